// kafka-go in its last release of 0.3, of 2020: see package resuming.
package main

import (
	"context"
	"log"
	"strconv"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"
	"kproxy.test/resuming"
)

type client struct{ resuming.Settings }

func main() {
	resuming.Run(func(settings resuming.Settings) resuming.Client { return client{settings} })
}

func (the client) dialer() *kafka.Dialer {
	found := *kafka.DefaultDialer
	if the.Login != nil {
		found.SASLMechanism = mechanism(*the.Login)
	}
	return &found
}

func mechanism(login resuming.Login) sasl.Mechanism {
	if login.Mechanism == "PLAIN" {
		return plain.Mechanism{Username: login.Username, Password: login.Password}
	}
	found, err := scram.Mechanism(scram.SHA256, login.Username, login.Password)
	resuming.Must(err)
	return found
}

func (the client) Write(first, count int) {
	writer := kafka.NewWriter(kafka.WriterConfig{
		Brokers:      the.Seeds(),
		Topic:        the.Topic,
		RequiredAcks: -1,
		BatchTimeout: time.Millisecond,
		Dialer:       the.dialer(),
	})
	messages := make([]kafka.Message, count)
	for number := range messages {
		value := []byte(strconv.Itoa(first + number))
		messages[number] = kafka.Message{Key: value, Value: value}
	}
	resuming.Must(writer.WriteMessages(context.Background(), messages...))
	resuming.Must(writer.Close())
}

func (the client) member() *kafka.Reader {
	return kafka.NewReader(kafka.ReaderConfig{
		Brokers:           the.Seeds(),
		GroupID:           the.Group,
		Topic:             the.Topic,
		StartOffset:       kafka.FirstOffset,
		MinBytes:          1,
		MaxBytes:          1 << 20,
		MaxWait:           time.Second,
		HeartbeatInterval: time.Second,
		Dialer:            the.dialer(),
		ErrorLogger:       kafka.LoggerFunc(log.Printf), // it tries again for ever, and says why only there
	})
}

func (the client) Read(count int) (found [][]byte) {
	reader := the.member()
	for len(found) < count {
		message, err := reader.ReadMessage(context.Background())
		resuming.Must(err)
		found = append(found, message.Value)
	}
	resuming.Must(reader.Close())
	return found
}
