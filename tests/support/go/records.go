package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
)

// record is key and value of the record `number`, as records.py makes them: 64 to 1,024 bytes of any value.
func record(topic, seed string, number int) *kgo.Record {
	key := fmt.Appendf(nil, "%s-%d", seed, number)
	block := sha256.Sum256(key)
	return &kgo.Record{Topic: topic, Key: key, Value: bytes.Repeat(block[:], 2+int(block[0])%31)}
}

func of(seed string, consumed []*kgo.Record) (own []*kgo.Record) {
	for _, one := range consumed {
		if strings.HasPrefix(string(one.Key), seed+"-") {
			own = append(own, one)
		}
	}
	return own
}

// comparison says how the consumed records differ from the acknowledged ones.
type comparison struct {
	Acknowledged int `json:"acknowledged"`
	Consumed     int `json:"consumed"`
	Missing      int `json:"missing"`
	Duplicates   int `json:"duplicates"`
	Wrong        int `json:"wrong"`
}

func compare(seed string, acknowledged []int, consumed []*kgo.Record) comparison {
	found := comparison{Acknowledged: len(acknowledged), Consumed: len(consumed)}
	seen := map[string]bool{}
	for _, one := range consumed {
		seen[string(one.Key)] = true
		number, err := strconv.Atoi(string(one.Key[bytes.LastIndexByte(one.Key, '-')+1:]))
		if right := record("", seed, number); err != nil || !bytes.Equal(right.Key, one.Key) || !bytes.Equal(right.Value, one.Value) {
			found.Wrong++
		}
	}
	for _, number := range acknowledged {
		if !seen[string(record("", seed, number).Key)] {
			found.Missing++
		}
	}
	found.Duplicates = len(consumed) - len(seen)
	return found
}
