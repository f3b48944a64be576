package main

// loginsOf are the orders of a process that logs in in several ways, one after the other, by name: see logins.py.
type loginsOf struct {
	Accepted map[string]struct {
		Security map[string]string `json:"security"`
		recordsOf
	} `json:"accepted"`
	Refused map[string]struct {
		Security  map[string]string `json:"security"`
		Bootstrap string            `json:"bootstrap"`
	} `json:"refused"`
}

func logins(the loginsOf) any {
	accepted, refused := map[string]any{}, map[string]any{}
	for name, order := range the.Accepted {
		said = order.Security
		accepted[name] = work(order.recordsOf)
	}
	for name, order := range the.Refused {
		said = order.Security
		refused[name] = refusal(order.Bootstrap)
	}
	return map[string]any{"accepted": accepted, "refused": refused}
}

// work produces, reads in a group, and does transactions with another group.
func work(the recordsOf) any {
	producer := the.client()
	acknowledged := produce(producer, the.Topic, "plain", the.Count)
	producer.Close()
	plain := compare("plain", acknowledged, the.consume(the.Group+"-plain", the.Count))
	the.Before = the.Count
	result := transactions(the)
	result["plain"] = plain
	return result
}
