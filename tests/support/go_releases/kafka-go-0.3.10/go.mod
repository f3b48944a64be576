module kproxy.test/kafka-go

go 1.26.0

require (
	github.com/segmentio/kafka-go v0.3.10
	kproxy.test/resuming v0.0.0
)

replace kproxy.test/resuming => ../resuming
