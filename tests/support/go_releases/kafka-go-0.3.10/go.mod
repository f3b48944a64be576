module kproxy.test/kafka-go

go 1.26.0

require (
	github.com/segmentio/kafka-go v0.3.10
	kproxy.test/resuming v0.0.0
)

require (
	github.com/xdg/scram v0.0.0-20180814205039-7eeb5667e42c // indirect
	github.com/xdg/stringprep v1.0.0 // indirect
	golang.org/x/crypto v0.0.0-20190506204251-e1dfcc566284 // indirect
	golang.org/x/text v0.3.0 // indirect
)

replace kproxy.test/resuming => ../resuming
