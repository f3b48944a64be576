// Package resuming is what the program of each old release of a library does: it writes numbers, reads and commits them
// as a group, writes one more, and reads as the group again. It takes JSON and prints JSON: what the two readings gave.
package resuming

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Settings are what tests/support/client_commands.py says.
type Settings struct {
	Servers, Topic, Group string
	Count                 int
	Version               []int
	Login                 *Login
}

// Login is how to log in by SASL; the mechanism is PLAIN or SCRAM-SHA-256.
type Login struct{ Mechanism, Username, Password string }

// Client is a library in one release; it ends the program where anything fails.
type Client interface {
	// Write writes numbers, each acknowledged by all replicas.
	Write(first, count int)
	// Read reads the values of this many records of the group, and commits them.
	Read(count int) [][]byte
}

const patience = time.Minute

// Run is all of a program; it ends with an exit code that is not 0 where anything fails, or hangs.
func Run(connect func(Settings) Client) {
	time.AfterFunc(patience, func() { Must(fmt.Errorf("not done in %s", patience)) })
	var settings Settings
	Must(json.Unmarshal([]byte(os.Args[1]), &settings))
	client, count := connect(settings), settings.Count
	client.Write(0, count)
	first := numbers(client.Read(count))
	client.Write(count, 1)
	Must(json.NewEncoder(os.Stdout).Encode([][]int{first, numbers(client.Read(1))}))
}

func numbers(values [][]byte) []int {
	found := make([]int, len(values))
	for place, value := range values {
		number, err := strconv.Atoi(string(value))
		Must(err)
		found[place] = number
	}
	slices.Sort(found)
	return found
}

// Seeds are the addresses that the client is told.
func (the Settings) Seeds() []string { return strings.Split(the.Servers, ",") }

// Must ends the program where there is an error.
func Must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
