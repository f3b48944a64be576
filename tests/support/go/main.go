// franz-go, and Sarama and kafka-go in some scenarios, as a user runs it: one scenario a process. What the scenarios do is the same as in tests/support/clients.
package main

import (
	"encoding/json"
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 3 {
		fail(fmt.Errorf("usage: %s SCENARIO JSON-SETTINGS", os.Args[0]))
	}
	switch scenario := os.Args[1]; scenario {
	case "everything":
		fromRecords(everything)
	case "transactions":
		say(transactions(spoken[recordsOf]()))
	case "follow":
		fromRecords(follow)
	case "logins":
		say(logins(spoken[loginsOf]()))
	case "telemetry":
		telemetry(spoken[pushing]())
	case "long-lived":
		longLived(spoken[map[string]role]())
	case "conformance":
		conformance(spoken[conforming]())
	case "rounds-franz-go":
		franzInRounds(spoken[rounds]())
	case "rounds-sarama":
		saramaInRounds(spoken[rounds]())
	case "resuming-franz-go":
		resumingFranz(spoken[resuming]())
	case "resuming-sarama":
		oldSarama(spoken[old]())
	case "resuming-kafka-go":
		oldKafkaGo(spoken[inKafkaGo]())
	case "member-kafka-go":
		memberKafkaGo(spoken[inKafkaGo]())
	default:
		fail(fmt.Errorf("no scenario %q", scenario))
	}
}

// spoken are the settings of the command line.
func spoken[T any]() (settings T) {
	must(json.Unmarshal([]byte(os.Args[2]), &settings))
	return settings
}

func fromRecords(scenario func(recordsOf) any) {
	say(scenario(spoken[recordsOf]()))
}

// say prints one line of JSON.
func say(value any) {
	must(json.NewEncoder(os.Stdout).Encode(value))
}

func must(err error) {
	if err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
