package main

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// refusal reports whether it was accepted or, of a refusal, the error's kind and what it says.
func refusal(bootstrap string) any {
	options := append(security(), kgo.SeedBrokers(bootstrap), kgo.RequestRetries(0))
	client, err := kgo.NewClient(options...)
	must(err)
	defer client.Close()
	limit, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err = client.Ping(limit)
	if err == nil {
		return map[string]any{"connected": true}
	}
	kind := "" // none of Kafka's
	if known := new(kerr.Error); errors.As(err, &known) {
		kind = known.Message
	}
	return map[string]any{"kind": kind, "says": err.Error()}
}
