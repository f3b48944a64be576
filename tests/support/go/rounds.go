package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/IBM/sarama"
	"github.com/twmb/franz-go/pkg/kerr"
)

// rounds is what the command line says; tests/support/clients/rounds.py says what this and all lines mean.
type rounds struct {
	Name      string         `json:"name"`
	Producers int            `json:"producers"`
	Mode      string         `json:"mode"`
	Settings  map[string]any `json:"settings"`
}

// order is one round.
type order struct {
	Round     int    `json:"round"`
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Records   int    `json:"records"`
	Do        string `json:"do"`
}

// outcome is what became of a round's records.
type outcome struct {
	Round    int               `json:"round"`
	Acked    []string          `json:"acked"`
	Failed   map[string]string `json:"failed"`
	Replaced int               `json:"replaced"`
	Seconds  float64           `json:"seconds"`
}

// producing is a producer of one library. Each call waits for its end; errors of records are by their values.
type producing interface {
	send(topic string, partition int32, values []string) map[string]error
	begin() error
	commit() error
	abort() error
	// dead says whether a producer with this error must be replaced.
	dead(err error) bool
	close()
}

// place is one producer, replaced by a new one when it is dead.
type place struct {
	name          string
	transactional bool
	make          func() (producing, error)
	producer      producing
	open          []string
}

// inRounds lets all producers do each line of standard input at once.
func inRounds(the rounds, make func(name string) (producing, error)) {
	var places []*place
	for number := range the.Producers {
		name := fmt.Sprintf("%s-%d", the.Name, number)
		make := func() (producing, error) { return make(name) }
		places = append(places, &place{name: name, transactional: the.Mode == "transactional", make: make})
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var order order
		must(json.Unmarshal(lines.Bytes(), &order))
		say(round(order, places))
	}
	for _, place := range places {
		place.close()
	}
}

func round(order order, places []*place) outcome {
	begun, outcomes := time.Now(), make([]outcome, len(places))
	var running sync.WaitGroup
	for at, place := range places {
		running.Go(func() { outcomes[at] = place.obey(order) })
	}
	running.Wait()
	all := outcome{Round: order.Round, Acked: []string{}, Failed: map[string]string{}}
	for _, one := range outcomes {
		all.Acked = append(all.Acked, one.Acked...)
		all.Replaced += one.Replaced
		for value, err := range one.Failed {
			all.Failed[value] = err
		}
	}
	all.Seconds = time.Since(begun).Seconds()
	return all
}

func (place *place) obey(order order) outcome {
	result := outcome{Failed: map[string]string{}}
	var values []string
	for number := range order.Records {
		values = append(values, fmt.Sprintf("%s-%d-%d", place.name, order.Round, number))
	}
	if place.transactional {
		place.transact(order, values, &result)
	} else {
		place.deliver(order, values, &result)
	}
	return result
}

func (place *place) deliver(order order, values []string, result *outcome) {
	if err := place.ready(); err != nil {
		result.fail(values, err)
		return
	}
	found, dead := place.producer.send(order.Topic, order.Partition, values), false
	for _, value := range values {
		if err := found[value]; err == nil {
			result.Acked = append(result.Acked, value)
		} else {
			result.fail([]string{value}, err)
			dead = dead || place.producer.dead(err)
		}
	}
	if dead {
		place.replace(result)
	}
}

// transact acknowledges the records that a commit has confirmed; any error ends the transaction.
func (place *place) transact(order order, values []string, result *outcome) {
	err := place.ready()
	if order.Do != "commit" {
		place.open = values
		if err == nil {
			err = place.begin(order)
		}
	}
	if err == nil && order.Do != "begin" && len(place.open) > 0 {
		if err = place.producer.commit(); err == nil {
			result.Acked, place.open = place.open, nil
		}
	}
	if err != nil {
		result.fail(place.open, err)
		place.open = nil
		place.recover(err, result)
	}
}

func (place *place) begin(order order) error {
	if err := place.producer.begin(); err != nil {
		return err
	}
	for _, err := range place.producer.send(order.Topic, order.Partition, place.open) {
		if err != nil {
			return err
		}
	}
	return nil
}

// recover aborts, unless the producer is dead; where that fails, nothing is left but a new one.
func (place *place) recover(err error, result *outcome) {
	if place.producer == nil {
		return
	}
	if !place.producer.dead(err) {
		if err = place.producer.abort(); err == nil {
			return
		}
		fmt.Fprintln(os.Stderr, place.name, "cannot abort:", err)
	}
	place.replace(result)
}

func (place *place) replace(result *outcome) {
	place.close()
	result.Replaced++
	if err := place.ready(); err != nil { // the next round tries again, and fails with it
		fmt.Fprintln(os.Stderr, place.name, "has no producer:", err)
	}
}

func (place *place) ready() (err error) {
	if place.producer == nil {
		place.producer, err = place.make()
	}
	return err
}

func (place *place) close() {
	if place.producer != nil {
		place.producer.close()
	}
	place.producer = nil
}

func (result *outcome) fail(values []string, err error) {
	for _, value := range values {
		result.Failed[value] = named(err)
	}
}

// named is the error, with its name in the protocol in front where it has one.
func named(err error) string {
	var of *kerr.Error
	var code sarama.KError
	if errors.As(err, &code) {
		errors.As(kerr.ErrorForCode(int16(code)), &of)
	}
	if of != nil || errors.As(err, &of) {
		return of.Message + ": " + strings.TrimPrefix(err.Error(), of.Message+": ")
	}
	return fmt.Sprintf("%T: %s", err, err)
}
