package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// role is what one client does for as long as the process lives; its records' values begin with its name.
type role struct {
	Kind     string         `json:"kind"`
	Topic    string         `json:"topic"`
	Name     string         `json:"name"`
	Settings map[string]any `json:"settings"`
}

// event is one line that a long-lived client prints: a record that was acknowledged or read, or an error.
type event struct {
	At    float64 `json:"at"`
	Who   string  `json:"who"`
	Event string  `json:"event"`
	Value string  `json:"value"`
}

func longLived(roles map[string]role) {
	lines := make(chan event)
	for who, role := range roles {
		report := func(what, value string) {
			lines <- event{float64(time.Now().UnixMicro()) / 1e6, who, what, value}
		}
		switch role.Kind {
		case "producer":
			go role.produce(report)
		case "consumer":
			go role.consume(report)
		default:
			fail(fmt.Errorf("no client of kind %q", role.Kind))
		}
	}
	for line := range lines {
		say(line)
	}
}

func (the role) produce(report func(what, value string)) {
	client, err := kgo.NewClient(options(the.Settings)...)
	must(err)
	for number := 0; ; number++ {
		record := kgo.StringRecord(fmt.Sprintf("%s-%d", the.Name, number))
		record.Topic = the.Topic
		client.Produce(context.Background(), record, func(record *kgo.Record, err error) {
			if err == nil {
				report("acked", string(record.Value))
				return
			}
			report("error", "not delivered: "+err.Error())
			the.purge(client, err)
		})
		time.Sleep(between)
	}
}

func (the role) consume(report func(what, value string)) {
	client, err := kgo.NewClient(append(options(the.Settings), kgo.ConsumeTopics(the.Topic))...)
	must(err)
	for {
		fetches := client.PollFetches(context.Background())
		fetches.EachRecord(func(record *kgo.Record) { report("consumed", string(record.Value)) })
		fetches.EachError(func(_ string, _ int32, err error) {
			report("error", err.Error())
			if the.purge(client, err) {
				client.AddConsumeTopics(the.Topic)
			}
		})
	}
}

// purge makes the client forget a topic that it knows by an id which is gone, where the settings say so.
func (the role) purge(client *kgo.Client, err error) bool {
	if the.Settings["UNKNOWN_TOPIC_ID"] != "purge" || !errors.Is(err, kerr.UnknownTopicID) {
		return false
	}
	client.PurgeTopicsFromClient(the.Topic)
	return true
}
