package main

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"
)

// inKafkaGo is what the scenarios of segmentio's kafka-go take.
type inKafkaGo struct {
	Servers, Topic, Group string
	Count                 int
}

func (the inKafkaGo) write(first, count int) {
	writer := &kafka.Writer{
		Addr:         kafka.TCP(strings.Split(the.Servers, ",")...),
		Topic:        the.Topic,
		RequiredAcks: kafka.RequireAll,
		BatchTimeout: time.Millisecond,
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
	return kafka.NewReader(kafka.ReaderConfig{
		Brokers:           strings.Split(the.Servers, ","),
		GroupID:           the.Group,
		Topic:             the.Topic,
		StartOffset:       kafka.FirstOffset,
		MinBytes:          1,
		MaxBytes:          1 << 20,
		MaxWait:           time.Second,
		HeartbeatInterval: time.Second,
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
