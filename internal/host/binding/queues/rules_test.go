package queues

import (
	"testing"

	"github.com/svcctl/svcctl/internal/bundle"
	"github.com/svcctl/svcctl/internal/svc"
)

// TestFull: when messages that are due make a batch.
func TestFull(t *testing.T) {
	t.Parallel()
	s := settingsOf(bundle.QueueConsumer{MaxBatchSize: new(3)})
	const now = 100_000
	at := func(due ...int64) (list []waiting) {
		for i, d := range due {
			list = append(list, waiting{int64(i), d, false})
		}
		return list
	}
	retried := at(now)
	retried[0].retried = true
	for what, c := range map[string]struct {
		ready []waiting
		full  bool
		at    int64
	}{
		"none":          {nil, false, 0},
		"one":           {at(now), false, now + 5000},
		"old enough":    {at(now-5000, now), true, now},
		"not yet":       {at(now-4999, now), false, now + 1},
		"three":         {at(now, now, now), true, 0},
		"a retried one": {retried, true, 0},
	} {
		if full, wake := s.full(c.ready, now); full != c.full || wake != c.at {
			t.Errorf("%s: %t at %d", what, full, wake)
		}
	}
}

// TestVerdicts: the rules of svc.QueueResult, of retries and of cut deliveries.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	s := settingsOf(bundle.QueueConsumer{MaxRetries: new(2), RetryDelay: new(9)})
	result := func(o svc.Outcome, q svc.QueueResult) svc.EventResult { return svc.EventResult{Outcome: o, Queue: &q} }
	none := svc.QueueResult{RetryDelay: svc.QueueDelay}
	all := svc.QueueResult{RetryAll: true, RetryDelay: 4}
	own := svc.QueueResult{RetryAll: true, RetryDelay: 4, Retried: []svc.QueueRetry{{ID: "a", Delay: 0}}}
	for what, c := range map[string]struct {
		result   svc.EventResult
		attempts int
		want     verdict
	}{
		"ok":                         {result(svc.OutcomeOK, none), 0, verdict{acked, 0}},
		"throws":                     {result(svc.OutcomeException, none), 0, verdict{retried, 9}},
		"throws after an ack":        {result(svc.OutcomeException, svc.QueueResult{Acked: []string{"a"}}), 0, verdict{acked, 0}},
		"throws after ackAll":        {result(svc.OutcomeException, svc.QueueResult{AckAll: true}), 0, verdict{acked, 0}},
		"retryAll":                   {result(svc.OutcomeOK, all), 0, verdict{retried, 4}},
		"its own delay":              {result(svc.OutcomeOK, own), 0, verdict{retried, 0}},
		"retried, with ackAll":       {result(svc.OutcomeOK, svc.QueueResult{AckAll: true, Retried: []svc.QueueRetry{{ID: "a", Delay: svc.QueueDelay}}}), 0, verdict{retried, 9}},
		"the last delivery":          {result(svc.OutcomeTimeout, none), 2, verdict{dies, 0}},
		"the last, cut by a stop":    {result(svc.OutcomeCanceled, none), 2, verdict{retried, 9}},
		"the process ends each time": {svc.EventResult{Outcome: svc.OutcomeExited}, 2 + cutRetries, verdict{dies, 0}},
	} {
		if got := newJudge(s, c.result).verdict(&message{key: "a", attempts: c.attempts}); got != c.want {
			t.Errorf("%s: %+v, want %+v", what, got, c.want)
		}
	}
}
