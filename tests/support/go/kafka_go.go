package main

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"
)

// inKafkaGo is what the scenarios of segmentio's kafka-go take.
type inKafkaGo struct {
	Servers, Topic, Group string
	Count                 int
	Login                 map[string]string
}

// logsIn are a transport and a dialer that log in; without a login they are kafka-go's own.
func (the inKafkaGo) logsIn() (kafka.RoundTripper, *kafka.Dialer) {
	if the.Login == nil {
		return kafka.DefaultTransport, kafka.DefaultDialer
	}
	dialer := *kafka.DefaultDialer
	dialer.SASLMechanism = the.mechanism()
	return &kafka.Transport{SASL: dialer.SASLMechanism}, &dialer
}

func (the inKafkaGo) mechanism() sasl.Mechanism {
	user, password := the.Login["username"], the.Login["password"]
	switch the.Login["mechanism"] {
	case "PLAIN":
		return plain.Mechanism{Username: user, Password: password}
	case "SCRAM-SHA-256":
		found, err := scram.Mechanism(scram.SHA256, user, password)
		must(err)
		return found
	}
	return nil
}

func (the inKafkaGo) write(first, count int) {
	transport, _ := the.logsIn()
	writer := &kafka.Writer{
		Addr:         kafka.TCP(strings.Split(the.Servers, ",")...),
		Topic:        the.Topic,
		RequiredAcks: kafka.RequireAll,
		BatchTimeout: time.Millisecond,
		Transport:    transport,
	}
	messages := make([]kafka.Message, count)
	for number := range messages {
		value := []byte(strconv.Itoa(first + number))
		messages[number] = kafka.Message{Key: value, Value: value}
	}
	must(writer.WriteMessages(context.Background(), messages...))
	must(writer.Close())
}

func (the inKafkaGo) member() *kafka.Reader {
	_, dialer := the.logsIn()
	return kafka.NewReader(kafka.ReaderConfig{
		Brokers:           strings.Split(the.Servers, ","),
		GroupID:           the.Group,
		Topic:             the.Topic,
		StartOffset:       kafka.FirstOffset,
		MinBytes:          1,
		MaxBytes:          1 << 20,
		MaxWait:           time.Second,
		HeartbeatInterval: time.Second,
		Dialer:            dialer,
	})
}

// read reads this many records of the group, and commits them.
func (the inKafkaGo) read(count int) []int {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	reader := the.member()
	found := []int{}
	for len(found) < count {
		message, err := reader.ReadMessage(ctx)
		must(err)
		number, err := strconv.Atoi(string(message.Value))
		must(err)
		found = append(found, number)
	}
	must(reader.Close())
	slices.Sort(found)
	return found
}

func oldKafkaGo(the inKafkaGo) {
	the.write(0, the.Count)
	first := the.read(the.Count)
	the.write(the.Count, 1)
	say([][]int{first, the.read(1)})
}

// memberKafkaGo is a member that reads and commits nothing, until it is killed.
func memberKafkaGo(the inKafkaGo) {
	reader := the.member()
	for {
		_, err := reader.FetchMessage(context.Background())
		must(err)
	}
}
