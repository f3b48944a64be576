// franz-go in its first stable release, of 2021: see package resuming.
package main

import (
	"context"
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
	"kproxy.test/resuming"
)

type client struct{ resuming.Settings }

func main() {
	resuming.Run(func(settings resuming.Settings) resuming.Client { return client{settings} })
}

func (the client) connected(more ...kgo.Opt) *kgo.Client {
	if the.Login != nil {
		more = append(more, kgo.SASL(mechanism(*the.Login)))
	}
	found, err := kgo.NewClient(append(more, kgo.SeedBrokers(the.Seeds()...))...)
	resuming.Must(err)
	return found
}

func mechanism(login resuming.Login) sasl.Mechanism {
	if login.Mechanism == "PLAIN" {
		return plain.Auth{User: login.Username, Pass: login.Password}.AsMechanism()
	}
	return scram.Auth{User: login.Username, Pass: login.Password}.AsSha256Mechanism()
}

func (the client) Write(first, count int) {
	producer := the.connected()
	records := make([]*kgo.Record, count)
	for number := range records {
		value := []byte(strconv.Itoa(first + number))
		records[number] = &kgo.Record{Topic: the.Topic, Key: value, Value: value}
	}
	resuming.Must(producer.ProduceSync(context.Background(), records...).FirstErr())
	producer.Close()
}

func (the client) Read(count int) (found [][]byte) {
	start := kgo.ConsumeResetOffset(kgo.NewOffset().AtStart())
	member := the.connected(kgo.ConsumerGroup(the.Group), kgo.ConsumeTopics(the.Topic), start, kgo.DisableAutoCommit())
	for len(found) < count {
		fetched := member.PollFetches(context.Background())
		fetched.EachError(func(_ string, _ int32, err error) { resuming.Must(err) })
		fetched.EachRecord(func(record *kgo.Record) { found = append(found, record.Value) })
	}
	resuming.Must(member.CommitUncommittedOffsets(context.Background()))
	member.Close()
	return found
}
