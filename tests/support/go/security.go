package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"os"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/oauth"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// said is how to connect, as TEST_SECURITY has it: see security.py.
var said = func() (found map[string]string) {
	if text := os.Getenv("TEST_SECURITY"); text != "" {
		must(json.Unmarshal([]byte(text), &found))
	}
	return found
}()

func security() (found []kgo.Opt) {
	if ca, ok := said["ca"]; ok {
		found = append(found, kgo.DialTLSConfig(trusting(ca, said["certificate"], said["key"])))
	}
	if mechanism := mechanism(said); mechanism != nil {
		found = append(found, kgo.SASL(mechanism))
	}
	if name, ok := said["client_id"]; ok {
		found = append(found, kgo.ClientID(name))
	}
	return found
}

// mechanism is how to log in: with TEST_SECURITY, or with the login of tests/support/client_releases.py.
func mechanism(said map[string]string) sasl.Mechanism {
	switch user, password := said["username"], said["password"]; said["mechanism"] {
	case "PLAIN":
		return plain.Auth{User: user, Pass: password}.AsMechanism()
	case "SCRAM-SHA-256":
		return scram.Auth{User: user, Pass: password}.AsSha256Mechanism()
	case "SCRAM-SHA-512":
		return scram.Auth{User: user, Pass: password}.AsSha512Mechanism()
	case "OAUTHBEARER":
		return oauth.Auth{Token: said["token"]}.AsMechanism()
	}
	return nil
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
