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

// event is one line of what a long-lived client tells: a record that was acknowledged or read, or an error.
type event struct {
	At    float64 `json:"at"`
	Who   string  `json:"who"`
	Event string  `json:"event"`
	Value string  `json:"value"`
}

func longLived(roles map[string]role) {
	lines := make(chan event)
	for who, role := range roles {
		tell := func(what, value string) {
			lines <- event{float64(time.Now().UnixMicro()) / 1e6, who, what, value}
		}
		switch role.Kind {
		case "producer":
			go role.produce(tell)
		case "consumer":
			go role.consume(tell)
		default:
			fail(fmt.Errorf("no client of kind %q", role.Kind))
		}
	}
	for line := range lines {
		say(line)
	}
}

func (the role) produce(tell func(what, value string)) {
	client, err := kgo.NewClient(options(the.Settings)...)
	must(err)
	for number := 0; ; number++ {
		record := kgo.StringRecord(fmt.Sprintf("%s-%d", the.Name, number))
		record.Topic = the.Topic
		client.Produce(context.Background(), record, func(record *kgo.Record, err error) {
			if err == nil {
				tell("acked", string(record.Value))
				return
			}
			tell("error", "not delivered: "+err.Error())
			the.purge(client, err)
		})
		time.Sleep(between)
	}
}

func (the role) consume(tell func(what, value string)) {
	client, err := kgo.NewClient(append(options(the.Settings), kgo.ConsumeTopics(the.Topic))...)
	must(err)
	for {
		fetches := client.PollFetches(context.Background())
		fetches.EachRecord(func(record *kgo.Record) { tell("consumed", string(record.Value)) })
		fetches.EachError(func(_ string, _ int32, err error) {
			tell("error", err.Error())
			if the.purge(client, err) {
				client.AddConsumeTopics(the.Topic)
			}
		})
	}
}

// purge has the client forget the topic that it knows by an id which is gone, where the settings say so.
func (the role) purge(client *kgo.Client, err error) bool {
	if the.Settings["UNKNOWN_TOPIC_ID"] != "purge" || !errors.Is(err, kerr.UnknownTopicID) {
		return false
	}
	client.PurgeTopicsFromClient(the.Topic)
	return true
}
