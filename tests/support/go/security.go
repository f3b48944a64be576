package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"os"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// security is how to connect, as TEST_SECURITY says: see security.py.
func security() []kgo.Opt {
	said := map[string]string{}
	if text := os.Getenv("TEST_SECURITY"); text != "" {
		must(json.Unmarshal([]byte(text), &said))
	}
	found := []kgo.Opt{}
	if ca, ok := said["ca"]; ok {
		found = append(found, kgo.DialTLSConfig(trusting(ca, said["certificate"], said["key"])))
	}
	switch user, password := said["username"], said["password"]; said["mechanism"] {
	case "PLAIN":
		found = append(found, kgo.SASL(plain.Auth{User: user, Pass: password}.AsMechanism()))
	case "SCRAM-SHA-256":
		found = append(found, kgo.SASL(scram.Auth{User: user, Pass: password}.AsSha256Mechanism()))
	case "SCRAM-SHA-512":
		found = append(found, kgo.SASL(scram.Auth{User: user, Pass: password}.AsSha512Mechanism()))
	}
	return found
}

func trusting(ca, certificate, key string) *tls.Config {
	authorities, err := os.ReadFile(ca)
	must(err)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authorities)
	config := &tls.Config{RootCAs: pool}
	if certificate != "" {
		own, err := tls.LoadX509KeyPair(certificate, key)
		must(err)
		config.Certificates = []tls.Certificate{own}
	}
	return config
}
