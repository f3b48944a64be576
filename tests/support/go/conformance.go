package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// conforming is franz-go in the cells of the error conformance table: tests/support/clients/conformance.py says what
// the order and the lines mean.
type conforming struct {
	Bootstrap string  `json:"bootstrap"`
	Deadline  float64 `json:"deadline"`
	AtOnce    int     `json:"at_once"`
	Cells     []cell  `json:"cells"`
}

type cell struct {
	Name            string `json:"name"`
	Work            string `json:"work"`
	Topic           string `json:"topic"`
	Group           string `json:"group"`
	TransactionalID string `json:"transactional_id"`
	Offsets         bool   `json:"offsets"`
	Abortable       bool   `json:"abortable"`

	bootstrap string
	deadline  time.Duration
	steps     []step
}

type step struct {
	Step  string  `json:"step"`
	OK    bool    `json:"ok"`
	At    float64 `json:"at"`
	Error string  `json:"error"`
	Says  string  `json:"says"`
}

func conformance(the conforming) {
	places := make(chan struct{}, the.AtOnce)
	var running sync.WaitGroup
	var printing sync.Mutex
	for _, one := range the.Cells {
		one.bootstrap, one.deadline = the.Bootstrap, time.Duration(the.Deadline*float64(time.Second))
		places <- struct{}{}
		running.Add(1)
		go func() {
			defer running.Done()
			one.run()
			printing.Lock()
			defer printing.Unlock()
			say(map[string]any{"cell": one.Name, "steps": one.steps})
			<-places
		}()
	}
	running.Wait()
}

func (one *cell) run() {
	if one.Work == "transaction" {
		one.transact()
	} else {
		one.join()
	}
}

// take does a step that ends at the deadline, also where the library ignores its context.
func (one *cell) take(name string, work func(context.Context) error) bool {
	ctx, cancel := context.WithTimeout(context.Background(), one.deadline)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- work(ctx) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	taken := step{Step: name, OK: err == nil, At: float64(time.Now().UnixMicro()) / 1e6}
	taken.Error, taken.Says = toldOf(err)
	one.steps = append(one.steps, taken)
	return err == nil
}

// toldOf is an error's name and what franz-go calls it.
func toldOf(err error) (name, says string) {
	var known *kerr.Error
	switch {
	case err == nil:
	case errors.Is(err, context.DeadlineExceeded):
		name = "hangs"
	case errors.As(err, &known):
		name = known.Message
		if known.Retriable {
			says = "retriable"
		}
	default:
		name, says = strings.TrimPrefix(fmt.Sprintf("%T", err), "*"), err.Error()
	}
	return name, says
}

func (one *cell) client(options ...kgo.Opt) *kgo.Client {
	client, err := kgo.NewClient(append(options, one.always()...)...)
	must(err)
	return client
}

func (one *cell) always() []kgo.Opt {
	return []kgo.Opt{kgo.SeedBrokers(one.bootstrap), kgo.ClientID(one.Name)}
}

// transactional is a producer; where the cell commits offsets, it is a session that also consumes (its way to do that).
type transactional struct {
	*kgo.Client
	session *kgo.GroupTransactSession
	ended   bool // by the session, which aborts by itself where it cannot commit
}

func (one *cell) producer() *transactional {
	options := []kgo.Opt{kgo.TransactionalID(one.TransactionalID), kgo.RecordPartitioner(kgo.ManualPartitioner())}
	if !one.Offsets {
		return &transactional{Client: one.client(options...)}
	}
	session, err := kgo.NewGroupTransactSession(append(append(options, one.member()...), one.always()...)...)
	must(err)
	return &transactional{Client: session.Client(), session: session}
}

func (one *cell) transact() {
	producer := one.producer()
	begun := one.take("init", producer.initialized)
	if begun && one.take("transaction", func(ctx context.Context) error { return producer.commit(ctx, one.Topic, "first") }) {
		producer.close()
		return
	}
	if begun || one.Abortable {
		one.take("abort", producer.abort)
	}
	again := one.take("again", func(ctx context.Context) error {
		if err := producer.initialized(ctx); err != nil {
			return err
		}
		return producer.commit(ctx, one.Topic, "again")
	})
	one.take("close", func(context.Context) error { producer.close(); return nil })
	if !again {
		another := one.producer()
		one.take("anew", func(ctx context.Context) error { return another.commit(ctx, one.Topic, "anew") })
		one.take("close", func(context.Context) error { another.close(); return nil })
	}
}

// initialized asks for the producer's id, which franz-go otherwise gets with the first record.
func (producer *transactional) initialized(ctx context.Context) error {
	_, _, err := producer.ProducerID(ctx)
	return err
}

func (producer *transactional) commit(ctx context.Context, topic, value string) error {
	begin, end := producer.BeginTransaction, func() error { return producer.EndTransaction(ctx, kgo.TryCommit) }
	if producer.session != nil {
		begin, end = producer.session.Begin, func() error { return producer.endSession(ctx) }
		if err := reads(ctx, producer.Client); err != nil {
			return err
		}
	}
	if err := begin(); err != nil {
		return err
	}
	if err := producer.ProduceSync(ctx, &kgo.Record{Topic: topic, Value: []byte(value)}).FirstErr(); err != nil {
		return err
	}
	return end()
}

var errNotCommitted = &kerr.Error{Message: "not committed"}

func (producer *transactional) endSession(ctx context.Context) error {
	committed, err := producer.session.End(ctx, kgo.TryCommit)
	producer.ended = err == nil
	if err == nil && !committed {
		return errNotCommitted
	}
	return err
}

func (producer *transactional) abort(ctx context.Context) error {
	if producer.session == nil {
		return producer.EndTransaction(ctx, kgo.TryAbort)
	}
	if producer.ended {
		return nil
	}
	_, err := producer.session.End(ctx, kgo.TryAbort)
	return err
}

func (producer *transactional) close() {
	if producer.session != nil {
		producer.session.Close()
		return
	}
	producer.Close()
}

func (one *cell) member() []kgo.Opt {
	return []kgo.Opt{kgo.ConsumerGroup(one.Group), kgo.ConsumeTopics(one.Topic), fromTheStart(),
		kgo.SessionTimeout(6 * time.Second), kgo.HeartbeatInterval(2 * time.Second)}
}

func (one *cell) consumer() *kgo.Client {
	return one.client(append(one.member(), kgo.DisableAutoCommit())...)
}

func (one *cell) join() {
	consumer := one.consumer()
	read := one.take("read", func(ctx context.Context) error { return reads(ctx, consumer) })
	if read && one.take("commit", consumer.CommitUncommittedOffsets) {
		consumer.Close()
		return
	}
	again := one.take("again", func(ctx context.Context) error { return goesOn(ctx, consumer, read, one.deadline/2) })
	one.take("close", func(context.Context) error { consumer.Close(); return nil })
	if !again {
		another := one.consumer()
		one.take("anew", func(ctx context.Context) error {
			if err := reads(ctx, another); err != nil {
				return err
			}
			return another.CommitUncommittedOffsets(ctx)
		})
		one.take("close", func(context.Context) error { another.Close(); return nil })
	}
}

func reads(ctx context.Context, consumer *kgo.Client) error {
	for {
		fetched := consumer.PollFetches(ctx)
		if err := fetched.Err(); err != nil {
			return err
		}
		if fetched.NumRecords() > 0 {
			return nil
		}
	}
}

// goesOn reads, unless there is a record already, and commits, whatever fails meanwhile.
func goesOn(ctx context.Context, consumer *kgo.Client, read bool, patience time.Duration) error {
	for end := time.Now().Add(patience); ; {
		short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
		fetched := consumer.PollFetches(short)
		cancel()
		read = read || fetched.NumRecords() > 0
		err := fetched.Err()
		if read {
			if err = consumer.CommitUncommittedOffsets(ctx); err == nil {
				return nil
			}
		}
		if time.Now().After(end) {
			return err
		}
	}
}
