package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/IBM/sarama"
	"github.com/xdg-go/scram"
)

// old is what the scripts in tests/support/clients/releases take: with a version, Sarama asks no broker and takes each for
// one of that version; without one, it has its defaults.
type old struct {
	Servers, Topic, Group string
	Count                 int
	Version               []int
	Kerberos              *kerberos
	Login                 map[string]string
}

// kerberos is how to log in by GSSAPI: the file is a krb5.conf, Host that of the brokers' principal, kafka/HOST.
// Without a handshake it begins with a token, as to Kafka 0.9.
type kerberos struct {
	File, Realm, User, Password, Host string
	Handshake                         bool
}

func (the kerberos) put(config *sarama.Config) {
	config.Net.SASL.Enable = true
	config.Net.SASL.Mechanism = sarama.SASLTypeGSSAPI
	config.Net.SASL.Version = sarama.SASLHandshakeV0
	if the.Handshake {
		config.Net.SASL.Version = sarama.SASLHandshakeV1
	}
	config.Net.SASL.GSSAPI = sarama.GSSAPIConfig{
		AuthType:           sarama.KRB5_USER_AUTH,
		KerberosConfigPath: the.File,
		Realm:              the.Realm,
		Username:           the.User,
		Password:           the.Password,
		ServiceName:        "kafka",
		BuildSpn:           func(service, _ string) string { return service + "/" + the.Host },
	}
}

// logIn pins the handshake, too: before 1.0, brokers knew its first version only, after which tokens go unframed.
func (the old) logIn(config *sarama.Config) {
	if len(the.Version) > 0 && !config.Version.IsAtLeast(sarama.V1_0_0_0) {
		config.Net.SASL.Version = sarama.SASLHandshakeV0
	}
	config.Net.SASL.Enable = true
	config.Net.SASL.Mechanism = sarama.SASLMechanism(the.Login["mechanism"])
	config.Net.SASL.User = the.Login["username"]
	config.Net.SASL.Password = the.Login["password"]
	config.Net.SASL.SCRAMClientGeneratorFunc = func() sarama.SCRAMClient { return &scramClient{} }
}

// scramClient is SCRAM-SHA-256 for Sarama, which has none of its own.
type scramClient struct{ *scram.ClientConversation }

func (the *scramClient) Begin(user, password, authorized string) error {
	client, err := scram.SHA256.NewClient(user, password, authorized)
	if err == nil {
		the.ClientConversation = client.NewConversation()
	}
	return err
}

const membersFrom = "0.10.2.0" // Sarama's own lowest version for a consumer group

func (the old) pin(config *sarama.Config) {
	version, err := sarama.ParseKafkaVersion(strings.Trim(strings.ReplaceAll(fmt.Sprint(the.Version), " ", "."), "[]"))
	must(err)
	config.Version = version
	config.ApiVersionsRequest = false
}

func (the old) config() *sarama.Config {
	config := sarama.NewConfig()
	if len(the.Version) > 0 {
		the.pin(config)
	}
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Return.Successes = true
	config.Consumer.Offsets.Initial = sarama.OffsetOldest
	config.Consumer.Offsets.AutoCommit.Enable = false
	if the.Kerberos != nil {
		the.Kerberos.put(config)
	}
	if the.Login != nil {
		the.logIn(config)
	}
	return config
}

func (the old) write(first, count int) {
	producer, err := sarama.NewSyncProducer(strings.Split(the.Servers, ","), the.config())
	must(err)
	for number := first; number < first+count; number++ {
		value := sarama.StringEncoder(strconv.Itoa(number))
		_, _, err := producer.SendMessage(&sarama.ProducerMessage{Topic: the.Topic, Key: value, Value: value})
		must(err)
	}
	must(producer.Close())
}

// read reads this many records of the group, and commits them.
func (the old) read(count int) []int {
	lowest, err := sarama.ParseKafkaVersion(membersFrom)
	must(err)
	config := the.config()
	values := make(chan []byte)
	end := the.readAlone
	if config.Version.IsAtLeast(lowest) {
		end = the.readAsMember
	}
	found := []int{}
	stop := end(config, values)
	for len(found) < count {
		select {
		case value := <-values:
			number, err := strconv.Atoi(string(value))
			must(err)
			found = append(found, number)
		case <-time.After(time.Minute):
			fail(fmt.Errorf("%d of %d records", len(found), count))
		}
	}
	stop()
	slices.Sort(found)
	return found
}

// readAlone reads all partitions from where the group has committed: before 0.9 there are no members.
func (the old) readAlone(config *sarama.Config, values chan<- []byte) (stop func()) {
	client, err := sarama.NewClient(strings.Split(the.Servers, ","), config)
	must(err)
	consumer, err := sarama.NewConsumerFromClient(client)
	must(err)
	offsets, err := sarama.NewOffsetManagerFromClient(the.Group, client)
	must(err)
	partitions, err := client.Partitions(the.Topic)
	must(err)
	for _, number := range partitions {
		committed, err := offsets.ManagePartition(the.Topic, number)
		must(err)
		next, _ := committed.NextOffset()
		reader, err := consumer.ConsumePartition(the.Topic, number, next)
		must(err)
		go func() {
			for message := range reader.Messages() {
				committed.MarkOffset(message.Offset+1, "")
				values <- message.Value
			}
		}()
	}
	return func() {
		offsets.Commit()
		must(offsets.Close())
		must(client.Close())
	}
}

type member struct{ values chan<- []byte }

func (member) Setup(sarama.ConsumerGroupSession) error { return nil }

// Cleanup commits: once, since each commit would wait for the fetch before it, by the same connection.
func (member) Cleanup(session sarama.ConsumerGroupSession) error {
	session.Commit()
	return nil
}

func (one member) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for message := range claim.Messages() {
		session.MarkMessage(message, "")
		one.values <- message.Value
	}
	return nil
}

func (the old) readAsMember(config *sarama.Config, values chan<- []byte) (stop func()) {
	group, err := sarama.NewConsumerGroup(strings.Split(the.Servers, ","), the.Group, config)
	must(err)
	ended := make(chan error)
	go func() { ended <- group.Consume(context.Background(), []string{the.Topic}, member{values}) }()
	return func() {
		must(group.Close())
		<-ended
	}
}

func oldSarama(the old) {
	the.write(0, the.Count)
	first := the.read(the.Count)
	the.write(the.Count, 1)
	say([][]int{first, the.read(1)})
}
