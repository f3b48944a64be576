package main

import (
	"context"
	"iter"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// between is the time between two records.
const between = 50 * time.Millisecond

// pushing are the settings of a client that pushes telemetry while it works: for so many records, or for ever.
type pushing struct {
	Settings map[string]any `json:"settings"`
	Topic    string         `json:"topic"`
	Records  int            `json:"records"`
}

// telemetry produces and reads, and pushes two metrics of the application's own (KIP-1076) beside the library's: a sum and a gauge.
func telemetry(the pushing) {
	var acknowledged atomic.Int64
	begun := time.Now()
	own := kgo.UserMetricsFn(func() iter.Seq[kgo.Metric] {
		return func(yield func(kgo.Metric) bool) {
			sum := kgo.Metric{Name: "com.example.records.acknowledged.total", Type: kgo.MetricTypeSum}
			sum.ValueInt = acknowledged.Load()
			gauge := kgo.Metric{Name: "com.example.uptime.seconds", Type: kgo.MetricTypeGauge}
			gauge.ValueFloat = time.Since(begun).Seconds()
			_ = yield(sum) && yield(gauge)
		}
	})
	client, err := kgo.NewClient(append(options(the.Settings), own, kgo.ConsumeTopics(the.Topic))...)
	must(err)
	go func() {
		for !client.PollFetches(context.Background()).IsClientClosed() {
		}
	}()
	for number := 0; number < the.Records || the.Records < 0; number++ {
		record := kgo.Record{Topic: the.Topic, Value: []byte("x")}
		client.Produce(context.Background(), &record, func(_ *kgo.Record, err error) {
			must(err)
			acknowledged.Add(1)
		})
		time.Sleep(between)
	}
	must(client.Flush(context.Background()))
	client.Close()
	say(map[string]int64{"acknowledged": acknowledged.Load()})
}
