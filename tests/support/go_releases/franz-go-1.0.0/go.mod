module kproxy.test/franz-go

go 1.26.0

require (
	github.com/twmb/franz-go v1.0.0
	kproxy.test/resuming v0.0.0
)

require (
	github.com/klauspost/compress v1.13.5 // indirect
	github.com/pierrec/lz4/v4 v4.1.8 // indirect
	github.com/twmb/franz-go/pkg/kmsg v0.0.0-20210901051457-3c197a133ddd // indirect
	github.com/twmb/go-rbtree v1.0.0 // indirect
	golang.org/x/crypto v0.0.0-20210817164053-32db794688a5 // indirect
)

replace kproxy.test/resuming => ../resuming
