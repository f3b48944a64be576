// kafka-exporter as Grafana's agent has it: see package resuming. It only looks, so a later Sarama than its own writes,
// reads and commits; that counts once the exporter's metrics say the same of the topic and of the group.
package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/IBM/sarama"
	"github.com/go-kit/log"
	"github.com/grafana/kafka_exporter/exporter"
	"github.com/prometheus/client_golang/prometheus"
	"kproxy.test/resuming"
)

const again = 200 * time.Millisecond

type client struct {
	resuming.Settings
	config  *sarama.Config
	metrics *prometheus.Registry
	// What has been read, of all that was written.
	read *int
}

func main() {
	resuming.Run(func(settings resuming.Settings) resuming.Client {
		return client{settings, configured(settings), exporting(settings), new(int)}
	})
}

func configured(settings resuming.Settings) *sarama.Config {
	config := sarama.NewConfig()
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Return.Successes = true
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	if settings.Login != nil {
		logIn(config, *settings.Login)
	}
	return config
}

func logIn(config *sarama.Config, login resuming.Login) {
	config.Net.SASL.Enable = true
	config.Net.SASL.User, config.Net.SASL.Password = login.Username, login.Password
	if login.Mechanism == sarama.SASLTypeSCRAMSHA256 {
		config.Net.SASL.Mechanism = sarama.SASLTypeSCRAMSHA256
		config.Net.SASL.SCRAMClientGeneratorFunc = func() sarama.SCRAMClient {
			return &exporter.XDGSCRAMClient{HashGeneratorFcn: exporter.SHA256}
		}
	}
}

// exporting has its own connections, and the settings that the program has where nothing is said.
func exporting(settings resuming.Settings) *prometheus.Registry {
	told := strings.Trim(strings.ReplaceAll(fmt.Sprint(settings.Version), " ", "."), "[]")
	options := exporter.Options{
		Uri: settings.Seeds(), KafkaVersion: told, UseSASLHandshake: true, MetadataRefreshInterval: "30s",
		OffsetShowAll: true, TopicWorkers: 100, MaxOffsets: 1000,
	}
	if login := settings.Login; login != nil {
		options.UseSASL, options.SaslUsername, options.SaslPassword = true, login.Username, login.Password
		options.SaslMechanism = map[string]string{"PLAIN": "plain", "SCRAM-SHA-256": "scram-sha256"}[login.Mechanism]
	}
	only := "^" + regexp.QuoteMeta(settings.Topic) + "$"
	found, err := exporter.New(log.NewLogfmtLogger(os.Stderr), options, only, "^$", only, "^$")
	resuming.Must(err)
	registry := prometheus.NewRegistry()
	resuming.Must(registry.Register(found))
	return registry
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
	*the.read += count
	the.waitExported() // while there is a member
	resuming.Must(group.Close())
	<-ended
	return found
}

// waitExported waits until the exporter says what a member that has read all has committed. resuming.Run has the limit.
func (the client) waitExported() {
	all := float64(*the.read)
	wanted := map[string]float64{
		"kafka_topic_partition_current_offset":        all,
		"kafka_consumergroup_current_offset":          all,
		"kafka_consumergroup_uncommitted_offsets_sum": 0,
		"kafka_consumergroup_members":                 1,
	}
	for said := the.exported(); !agree(said, wanted); said = the.exported() {
		fmt.Fprintln(os.Stderr, "failed to export", wanted, "says", said)
		time.Sleep(again)
	}
}

func agree(said, wanted map[string]float64) bool {
	for name, value := range wanted {
		if found, there := said[name]; !there || found != value {
			return false
		}
	}
	return true
}

// exported returns each metric, summed over all partitions.
func (the client) exported() map[string]float64 {
	families, err := the.metrics.Gather()
	resuming.Must(err)
	sums := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.Metric {
			sums[family.GetName()] += metric.GetGauge().GetValue()
		}
	}
	return sums
}

type member struct{ values chan<- []byte }

func (member) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (member) Cleanup(sarama.ConsumerGroupSession) error { return nil }

func (one member) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for message := range claim.Messages() {
		session.MarkMessage(message, "")
		session.Commit()
		one.values <- message.Value
	}
	return nil
}
