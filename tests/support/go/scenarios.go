package main

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// patience is how long a consumer that has not seen everything waits for more; it then reports what is missing.
const patience = 60 * time.Second

// recordsOf are a scenario's settings; each uses those that it needs.
type recordsOf struct {
	Bootstrap       string  `json:"bootstrap"`
	Topic           string  `json:"topic"`
	Group           string  `json:"group"`
	Count           int     `json:"count"`
	Replicas        int16   `json:"replicas"`
	TransactionalID string  `json:"transactional_id"`
	Seconds         float64 `json:"seconds"`
	Before          int     `json:"before"` // records that were in the topic
}

func (the recordsOf) client(options ...kgo.Opt) *kgo.Client {
	client, err := kgo.NewClient(append(append(options, security()...), kgo.SeedBrokers(strings.Split(the.Bootstrap, ",")...), logging())...)
	must(err)
	return client
}

func (the recordsOf) reader(group string, options ...kgo.Opt) *kgo.Client {
	return the.client(append(options, kgo.ConsumerGroup(group), kgo.ConsumeTopics(the.Topic), fromTheStart())...)
}

// everything: a topic, records with each acks setting, read by a group after each; the brokers as the client sees them.
func everything(the recordsOf) any {
	admin := the.client()
	defer admin.Close()
	createTopic(admin, the.Topic, the.Replicas)
	results := map[string]comparison{}
	produced := 0
	// Not 0 first: its records are lost as long as the leader does not know the topic.
	for _, way := range []struct {
		name    string
		options []kgo.Opt
	}{
		{"all", []kgo.Opt{kgo.RequiredAcks(kgo.AllISRAcks()), kgo.DisableIdempotentWrite()}},
		{"1", []kgo.Opt{kgo.RequiredAcks(kgo.LeaderAck()), kgo.DisableIdempotentWrite()}},
		{"0", []kgo.Opt{kgo.RequiredAcks(kgo.NoAck()), kgo.DisableIdempotentWrite()}},
		{"idempotent", nil},
	} {
		producer := the.client(way.options...)
		acknowledged := produce(producer, the.Topic, way.name, the.Count)
		producer.Close()
		produced += len(acknowledged)
		consumed := the.consume(the.Group+"-"+way.name, produced)
		results[way.name] = compare(way.name, acknowledged, of(way.name, consumed))
	}
	return map[string]any{"nodes": nodes(admin), "acks": results}
}

// transactions: two are committed and one between them is aborted, with the offset of a group in each.
func transactions(the recordsOf) map[string]any {
	producer := the.client(kgo.TransactionalID(the.TransactionalID))
	acknowledged := map[string][]int{}
	for _, seed := range []string{"first", "aborted", "last"} {
		must(producer.BeginTransaction())
		acknowledged[seed] = produce(producer, the.Topic, seed, the.Count)
		commitInTransaction(producer, the, int64(len(seed)))
		must(producer.EndTransaction(context.Background(), kgo.TransactionEndTry(seed != "aborted")))
	}
	producer.Close()
	consumed := the.consume(the.Group, the.Before+2*the.Count, kgo.FetchIsolationLevel(kgo.ReadCommitted()))
	result := map[string]any{"committed": the.committed()}
	for seed, numbers := range acknowledged {
		result[seed] = compare(seed, numbers, of(seed, consumed))
	}
	return result
}

// follow produces and consumes for a while, whatever happens to the brokers meanwhile.
func follow(the recordsOf) any {
	producer := the.client(kgo.ProducerLinger(5 * time.Millisecond))
	produced, done := 0, make(chan struct{})
	tally := tally{failed: []string{}}
	go func() {
		defer close(done)
		end := time.Now().Add(time.Duration(the.Seconds * float64(time.Second)))
		for ; time.Now().Before(end); produced++ {
			tally.send(producer, the.Topic, "follow", produced)
			time.Sleep(time.Millisecond)
		}
		must(producer.Flush(context.Background()))
		producer.Close()
	}()
	consumed := the.drink(the.Group, func() (int, bool) {
		select {
		case <-done:
			return len(tally.acknowledged), true
		default:
			return 0, false
		}
	})
	return struct {
		Produced int      `json:"produced"`
		Failed   []string `json:"failed"`
		comparison
	}{produced, tally.failed[:min(3, len(tally.failed))], compare("follow", tally.acknowledged, consumed)}
}

// tally is what became of the records that were sent.
type tally struct {
	lock         sync.Mutex
	acknowledged []int
	failed       []string
}

func (tally *tally) send(producer *kgo.Client, topic, seed string, number int) {
	producer.Produce(context.Background(), record(topic, seed, number), func(_ *kgo.Record, err error) {
		tally.lock.Lock()
		defer tally.lock.Unlock()
		if err == nil {
			tally.acknowledged = append(tally.acknowledged, number)
		} else {
			tally.failed = append(tally.failed, err.Error())
		}
	})
}

// produce returns the numbers of the records that were acknowledged.
func produce(producer *kgo.Client, topic, seed string, count int) []int {
	tally := tally{failed: []string{}}
	for number := range count {
		tally.send(producer, topic, seed, number)
	}
	must(producer.Flush(context.Background()))
	return tally.acknowledged
}

// consume reads so many records, unless patience ends first, and commits the group's offsets.
func (the recordsOf) consume(group string, count int, options ...kgo.Opt) []*kgo.Record {
	return the.drink(group, func() (int, bool) { return count, true }, options...)
}

// drink reads until it has as many records as `total` says, once it says so, or for as long as its patience lasts.
func (the recordsOf) drink(group string, total func() (int, bool), options ...kgo.Opt) (consumed []*kgo.Record) {
	consumer := the.reader(group, options...)
	defer consumer.Close()
	for quiet := time.Now(); ; {
		wanted, known := total()
		if known && (len(consumed) >= wanted || time.Since(quiet) > patience) {
			break
		}
		ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
		fetched := consumer.PollFetches(ctx).Records()
		cancel()
		if len(fetched) > 0 {
			consumed, quiet = append(consumed, fetched...), time.Now()
		}
	}
	must(consumer.CommitUncommittedOffsets(context.Background()))
	return consumed
}

func createTopic(admin *kgo.Client, topic string, replicas int16) {
	request := kmsg.NewPtrCreateTopicsRequest()
	request.TimeoutMillis = 30_000
	wanted := kmsg.NewCreateTopicsRequestTopic()
	wanted.Topic, wanted.NumPartitions, wanted.ReplicationFactor = topic, 3, replicas
	request.Topics = append(request.Topics, wanted)
	response, err := request.RequestWith(context.Background(), admin)
	must(err)
	must(kerr.ErrorForCode(response.Topics[0].ErrorCode))
}

func nodes(admin *kgo.Client) (found [][3]any) {
	request := kmsg.NewPtrDescribeClusterRequest()
	response, err := request.RequestWith(context.Background(), admin)
	must(err)
	must(kerr.ErrorForCode(response.ErrorCode))
	for _, one := range response.Brokers {
		found = append(found, [3]any{one.NodeID, one.Host, one.Port})
	}
	return found
}

// topicID is the id by which the newest versions of several requests name a topic.
func topicID(client *kgo.Client, topic string) [16]byte {
	request := kmsg.NewPtrMetadataRequest()
	wanted := kmsg.NewMetadataRequestTopic()
	wanted.Topic = kmsg.StringPtr(topic)
	request.Topics = append(request.Topics, wanted)
	response, err := request.RequestWith(context.Background(), client)
	must(err)
	must(kerr.ErrorForCode(response.Topics[0].ErrorCode))
	return response.Topics[0].TopicID
}

// commitInTransaction commits an offset of partition 0 with the records of the transaction, for a group without members.
func commitInTransaction(producer *kgo.Client, the recordsOf, offset int64) {
	id, epoch, err := producer.ProducerID(context.Background())
	must(err)
	partition := kmsg.NewTxnOffsetCommitRequestTopicPartition()
	partition.Offset = offset
	topic := kmsg.NewTxnOffsetCommitRequestTopic()
	topic.Topic, topic.TopicID, topic.Partitions = the.Topic, topicID(producer, the.Topic), append(topic.Partitions, partition)
	request := kmsg.NewPtrTxnOffsetCommitRequest()
	request.TransactionalID, request.Group = the.TransactionalID, the.Group+"-offsets"
	request.ProducerID, request.ProducerEpoch, request.Generation = id, epoch, -1
	request.Topics = append(request.Topics, topic)
	response, err := request.RequestWith(context.Background(), producer) // from v5 on it needs no AddOffsetsToTxn (KIP-890)
	must(err)
	must(kerr.ErrorForCode(response.Topics[0].Partitions[0].ErrorCode))
}

func (the recordsOf) committed() int64 {
	client := the.client()
	defer client.Close()
	topic := kmsg.NewOffsetFetchRequestGroupTopic()
	topic.Topic, topic.TopicID, topic.Partitions = the.Topic, topicID(client, the.Topic), []int32{0}
	group := kmsg.NewOffsetFetchRequestGroup()
	group.Group, group.Topics = the.Group+"-offsets", append(group.Topics, topic)
	request := kmsg.NewPtrOffsetFetchRequest()
	request.Groups = append(request.Groups, group)
	response, err := request.RequestWith(context.Background(), client)
	must(err)
	must(kerr.ErrorForCode(response.Groups[0].ErrorCode))
	return response.Groups[0].Topics[0].Partitions[0].Offset
}

func fromTheStart() kgo.Opt {
	return kgo.ConsumeResetOffset(kgo.NewOffset().AtStart())
}
