package acmetest

import (
	"context"
	"net"
	"slices"
	"strings"
	"sync"

	"github.com/miekg/dns"
)

// Zone is the name of the zone that the name server has, with the dot at its end.
const Zone = "test."

// A key that may update the zone [RFC 2136].
const (
	KeyAlgorithm = "hmac-sha256"
	KeyName      = "updates"
	KeyText      = "a2V5IG9mIHRoZSB0ZXN0cw=="
)

// zone has what the authority and its clients ask for: this machine as the address of every
// name, and texts.
type zone struct {
	mu      sync.Mutex
	texts   map[string][]string // by name
	aliases map[string]string   // targets by name
}

// setTexts replaces the texts of a name, if there is one, and returns the number of texts.
func (z *zone) setTexts(name string, texts []string) (all int) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if name != "" {
		z.texts[dns.Fqdn(name)] = texts
	}
	for _, list := range z.texts {
		all += len(list)
	}
	return all
}

func (z *zone) setAlias(name, target string) {
	z.mu.Lock()
	defer z.mu.Unlock()
	z.aliases[dns.Fqdn(name)] = dns.Fqdn(target)
}

// serve answers at an address, by UDP and TCP, until the process ends.
func (z *zone) serve(ctx context.Context) (string, error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	packets, err := lc.ListenPacket(ctx, "udp", ln.Addr().String())
	if err != nil {
		return "", err
	}
	for _, server := range []*dns.Server{{Listener: ln}, {PacketConn: packets}} {
		server.Handler = dns.HandlerFunc(z.answer)
		server.TsigSecret = map[string]string{dns.Fqdn(KeyName): KeyText}
		server.MsgAcceptFunc = func(dns.Header) dns.MsgAcceptAction { return dns.MsgAccept } // updates too
		go func() { _ = server.ActivateAndServe() }()                                        // it ends with the process
	}
	return ln.Addr().String(), nil
}

func (z *zone) answer(w dns.ResponseWriter, q *dns.Msg) {
	z.mu.Lock()
	defer z.mu.Unlock()
	reply := new(dns.Msg).SetReply(q)
	reply.Authoritative = true // else a resolver takes an answer without records for a failure
	if q.Opcode == dns.OpcodeUpdate {
		z.update(w, q, reply)
	} else {
		reply.Answer = z.records(q.Question[0].Name, q.Question[0].Qtype)
	}
	_ = w.WriteMsg(reply) // the client asks again
}

// update changes texts for those that have the key.
func (z *zone) update(w dns.ResponseWriter, q, reply *dns.Msg) {
	sign := q.IsTsig()
	if sign == nil || w.TsigStatus() != nil {
		reply.Rcode = dns.RcodeRefused
		return
	}
	for _, rr := range q.Ns {
		text, ok := rr.(*dns.TXT)
		if !ok {
			continue
		}
		name, value := text.Hdr.Name, strings.Join(text.Txt, "")
		z.texts[name] = slices.DeleteFunc(z.texts[name], func(t string) bool { return t == value })
		if text.Hdr.Class == dns.ClassINET { // others delete
			z.texts[name] = append(z.texts[name], value)
		}
	}
	reply.SetTsig(sign.Hdr.Name, sign.Algorithm, sign.Fudge, int64(sign.TimeSigned)) //nolint:gosec // a time
}

func (z *zone) records(name string, kind uint16) (list []dns.RR) {
	head := dns.RR_Header{Name: name, Rrtype: kind, Class: dns.ClassINET}
	switch kind {
	case dns.TypeA:
		list = append(list, &dns.A{Hdr: head, A: net.IPv4(127, 0, 0, 1)})
	case dns.TypeSOA:
		if name == Zone {
			list = append(list, &dns.SOA{Hdr: head, Ns: "ns." + Zone, Mbox: "ops." + Zone, Refresh: 1})
		}
	case dns.TypeTXT:
		if target := z.aliases[name]; target != "" {
			list = append(list, &dns.CNAME{Hdr: dns.RR_Header{Name: name, Rrtype: dns.TypeCNAME, Class: dns.ClassINET}, Target: target})
			head.Name = target
		}
		for _, text := range z.texts[head.Name] {
			list = append(list, &dns.TXT{Hdr: head, Txt: []string{text}})
		}
	}
	return list
}
