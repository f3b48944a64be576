package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/IBM/sarama"
)

// saramas is a producer of Sarama. Without transactions it is never dead: it takes the next epoch after any error. With
// transactions it reports itself that it is dead.
type saramas struct{ producer sarama.AsyncProducer }

func saramaInRounds(the rounds) {
	inRounds(the, func(name string) (producing, error) {
		servers, config := saramaConfig(the.with(name))
		producer, err := sarama.NewAsyncProducer(servers, config)
		if err != nil { // `saramas{nil}` would not be nil
			return nil, err
		}
		return saramas{producer}, nil
	})
}

// saramaConfig translates settings by Kafka's names into those of Sarama.
func saramaConfig(settings map[string]any) (servers []string, config *sarama.Config) {
	config = sarama.NewConfig()
	config.Producer.Partitioner = sarama.NewManualPartitioner
	config.Producer.Return.Successes = true
	for name, value := range settings {
		switch name {
		case "bootstrap.servers":
			servers = strings.Split(value.(string), ",")
		case "client.id":
			config.ClientID = value.(string)
		case "enable.idempotence": // it needs all acks, and one request at a time
			config.Producer.Idempotent = value.(bool)
			config.Producer.RequiredAcks = sarama.WaitForAll
			config.Net.MaxOpenRequests = 1
		case "transactional.id":
			config.Producer.Transaction.ID = value.(string)
		case "retries":
			config.Producer.Retry.Max = int(value.(float64))
		default:
			fail(fmt.Errorf("no way to set %s", name))
		}
	}
	return servers, config
}

func (one saramas) send(topic string, partition int32, values []string) map[string]error {
	errors := map[string]error{}
	go func() {
		for _, value := range values {
			one.producer.Input() <- &sarama.ProducerMessage{
				Topic: topic, Partition: partition, Value: sarama.StringEncoder(value), Metadata: value,
			}
		}
	}()
	for len(errors) < len(values) {
		select {
		case sent := <-one.producer.Successes():
			errors[sent.Metadata.(string)] = nil
		case failed := <-one.producer.Errors():
			errors[failed.Msg.Metadata.(string)] = failed.Err
		}
	}
	return errors
}

func (one saramas) begin() error { return one.producer.BeginTxn() }

// commit tries again where the producer is in no error state, as Sarama's example does.
func (one saramas) commit() error {
	err := one.producer.CommitTxn()
	if err != nil && one.producer.TxnStatus()&sarama.ProducerTxnFlagInError == 0 {
		err = one.producer.CommitTxn()
	}
	return err
}

func (one saramas) abort() error { return one.producer.AbortTxn() }

func (one saramas) dead(error) bool {
	return one.producer.IsTransactional() && one.producer.TxnStatus()&sarama.ProducerTxnFlagFatalError != 0
}

func (one saramas) close() {
	if err := one.producer.Close(); err != nil {
		fmt.Fprintln(os.Stderr, "close:", err)
	}
}
