package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
)

// options translates settings by Kafka's names into those of franz-go.
func options(settings map[string]any) []kgo.Opt {
	servers := strings.Split(settings["bootstrap.servers"].(string), ",")
	found := []kgo.Opt{kgo.SeedBrokers(servers...), logging()}
	for name, value := range settings {
		switch setting := fmt.Sprint(name, "=", value); {
		case name == "bootstrap.servers", setting == "acks=all": // franz-go's default
		case name == "client.id":
			found = append(found, kgo.ClientID(value.(string)))
		case name == "transactional.id":
			found = append(found, kgo.TransactionalID(value.(string)))
		case name == "group.id":
			found = append(found, kgo.ConsumerGroup(value.(string)))
		case setting == "auto.offset.reset=earliest":
			found = append(found, fromTheStart())
		case setting == "OnRebootstrapRequired=seeds":
			found = append(found, kgo.OnRebootstrapRequired(func() ([]string, error) { return servers, nil }))
		case setting == "UNKNOWN_TOPIC_ID=purge": // what the program does, not the library
		default:
			fail(fmt.Errorf("no way to set %s", setting))
		}
	}
	return found
}

// logging is to standard error, of what is worth a warning.
func logging() kgo.Opt {
	return kgo.WithLogger(kgo.BasicLogger(os.Stderr, kgo.LogLevelWarn, nil))
}
