package main

import (
	"context"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

// franz is a producer of franz-go. Without transactions it is never dead: it gets a new id or epoch by itself, after any
// error. With transactions it is dead when it cannot begin one: so it reports an id that is lost for good.
type franz struct {
	client *kgo.Client
	lost   bool
}

func franzInRounds(the rounds) {
	inRounds(the, func(name string) (producing, error) {
		chosen := append(options(the.with(name)), kgo.RecordPartitioner(kgo.ManualPartitioner()))
		client, err := kgo.NewClient(chosen...)
		if err != nil { // a franz without a client would not be nil
			return nil, err
		}
		return &franz{client: client}, nil
	})
}

// with returns the settings of one producer; its name is its transactional id.
func (the rounds) with(name string) map[string]any {
	settings := map[string]any{"client.id": name}
	for key, value := range the.Settings {
		settings[key] = value
	}
	if the.Mode == "transactional" {
		settings["transactional.id"] = name
	}
	return settings
}

func (one *franz) send(topic string, partition int32, values []string) map[string]error {
	errors := map[string]error{}
	var lock sync.Mutex
	var sending sync.WaitGroup
	for _, value := range values {
		sending.Add(1)
		record := &kgo.Record{Topic: topic, Partition: partition, Value: []byte(value)}
		one.client.Produce(context.Background(), record, func(_ *kgo.Record, err error) {
			lock.Lock()
			defer lock.Unlock()
			errors[value] = err
			sending.Done()
		})
	}
	sending.Wait()
	return errors
}

func (one *franz) begin() error {
	err := one.client.BeginTransaction()
	one.lost = err != nil
	return err
}

func (one *franz) commit() error {
	return one.client.EndTransaction(context.Background(), kgo.TryCommit)
}

func (one *franz) abort() error {
	return one.client.EndTransaction(context.Background(), kgo.TryAbort)
}

func (one *franz) dead(error) bool { return one.lost }

func (one *franz) close() { one.client.Close() }
