package main

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// resuming is what franz-go takes as a release among others: see tests/support/client_releases.py.
type resuming struct {
	Servers, Topic, Group string
	Count                 int
	Login                 map[string]string
}

func resumingFranz(the resuming) {
	the.write(0, the.Count)
	first := the.read(the.Count)
	the.write(the.Count, 1)
	say([][]int{first, the.read(1)})
}

func (the resuming) client(more ...kgo.Opt) *kgo.Client {
	if mechanism := mechanism(the.Login); mechanism != nil {
		more = append(more, kgo.SASL(mechanism))
	}
	client, err := kgo.NewClient(append(options(map[string]any{"bootstrap.servers": the.Servers}), more...)...)
	must(err)
	return client
}

func (the resuming) write(first, count int) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client := the.client()
	records := make([]*kgo.Record, count)
	for number := range records {
		value := []byte(strconv.Itoa(first + number))
		records[number] = &kgo.Record{Topic: the.Topic, Key: value, Value: value}
	}
	must(client.ProduceSync(ctx, records...).FirstErr())
	client.Close()
}

// read reads this many records of the group, and commits them.
func (the resuming) read(count int) []int {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client := the.client(kgo.ConsumerGroup(the.Group), kgo.ConsumeTopics(the.Topic), fromTheStart(), kgo.DisableAutoCommit())
	found := []int{}
	for len(found) < count {
		fetched := client.PollFetches(ctx)
		must(fetched.Err())
		fetched.EachRecord(func(record *kgo.Record) {
			number, err := strconv.Atoi(string(record.Value))
			must(err)
			found = append(found, number)
		})
	}
	must(client.CommitUncommittedOffsets(ctx))
	client.Close()
	slices.Sort(found)
	return found
}
