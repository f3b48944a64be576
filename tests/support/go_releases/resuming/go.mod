module kproxy.test/resuming

go 1.26.0
