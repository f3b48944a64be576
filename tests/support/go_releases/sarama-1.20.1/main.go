// Sarama as of 2018, of its first releases with consumer groups: see package resuming. It asks no broker for versions.
package main

import (
	"context"
	"fmt"
	"log"
	"strconv"
	"strings"

	"github.com/Shopify/sarama"
	"kproxy.test/resuming"
)

type client struct {
	resuming.Settings
	config *sarama.Config
}

func main() {
	sarama.Logger = log.Default() // it tries again for ever, and says why only there
	resuming.Run(func(settings resuming.Settings) resuming.Client { return client{settings, configured(settings)} })
}

func configured(settings resuming.Settings) *sarama.Config {
	version, err := sarama.ParseKafkaVersion(strings.Trim(strings.ReplaceAll(fmt.Sprint(settings.Version), " ", "."), "[]"))
	resuming.Must(err)
	config := sarama.NewConfig()
	config.Version = version
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Return.Successes = true
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	if settings.Login != nil {
		logIn(config, *settings.Login)
	}
	return config
}

func logIn(config *sarama.Config, login resuming.Login) {
	if login.Mechanism != "PLAIN" {
		resuming.Must(fmt.Errorf("error: it has PLAIN only, not %s", login.Mechanism))
	}
	config.Net.SASL.Enable = true
	config.Net.SASL.User, config.Net.SASL.Password = login.Username, login.Password
}

func (the client) Write(first, count int) {
	producer, err := sarama.NewSyncProducer(the.Seeds(), the.config)
	resuming.Must(err)
	for number := first; number < first+count; number++ {
		value := sarama.StringEncoder(strconv.Itoa(number))
		_, _, err := producer.SendMessage(&sarama.ProducerMessage{Topic: the.Topic, Key: value, Value: value})
		resuming.Must(err)
	}
	resuming.Must(producer.Close())
}

func (the client) Read(count int) (found [][]byte) {
	group, err := sarama.NewConsumerGroup(the.Seeds(), the.Group, the.config)
	resuming.Must(err)
	values, ended := make(chan []byte), make(chan struct{})
	go func() {
		resuming.Must(group.Consume(context.Background(), []string{the.Topic}, member{values}))
		close(ended)
	}()
	for len(found) < count {
		found = append(found, <-values)
	}
	resuming.Must(group.Close()) // it ends the session, which commits what is marked
	<-ended
	return found
}

type member struct{ values chan<- []byte }

func (member) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (member) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (one member) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for message := range claim.Messages() {
		session.MarkMessage(message, "")
		one.values <- message.Value
	}
	return nil
}
