package dashboard

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/svcctl/svcctl/internal/svc"
)

const (
	idleTime    = 2 * time.Hour  // after its last request a session ends
	sessionTime = 24 * time.Hour // after which a session ends in any case
	maxSessions = 1000
	ticketTime  = time.Minute
	maxTickets  = 1000
)

// session is one signed-in browser. Its fields do not change, but for the last two, which
// the mutex of sessions guards.
type session struct {
	token  svc.Secret
	role   string // svc.RoleAdmin or svc.RoleRead
	csrf   string // is in each form
	expiry time.Time
	used   time.Time
	note   note // for the next page
}

// mayWrite reports whether the token of the session may change something.
func (s *session) mayWrite() bool { return s.role == svc.RoleAdmin }

// note says what was done. Bad is for one that says that something was not.
type note struct {
	Text string
	Bad  bool
}

// valid reports whether text is the session's token against forged requests.
func (s *session) valid(text string) bool {
	return subtle.ConstantTimeCompare([]byte(text), []byte(s.csrf)) == 1
}

// ticket is a sign-in that a client with a token asked for; it works once.
type ticket struct {
	token  svc.Secret
	expiry time.Time
}

// sessions holds the sessions and tickets in memory, by the hash of their secret. It is
// safe for concurrent use.
type sessions struct {
	mu       sync.Mutex
	sessions map[[sha256.Size]byte]*session
	tickets  map[[sha256.Size]byte]ticket
}

func newSessions() *sessions {
	return &sessions{sessions: map[[sha256.Size]byte]*session{}, tickets: map[[sha256.Size]byte]ticket{}}
}

// begin starts a session and returns its secret. It drops the session that was not used
// for the longest time when there are too many.
func (s *sessions) begin(token svc.Secret, role string, now time.Time) string {
	id := rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(now)
	for len(s.sessions) >= maxSessions {
		s.dropOldest()
	}
	s.sessions[sha256.Sum256([]byte(id))] = &session{token: token, role: role, csrf: rand.Text(), expiry: now.Add(sessionTime), used: now}
	return id
}

func (s *sessions) dropOldest() {
	var oldest [sha256.Size]byte
	var found *session
	for key, v := range s.sessions {
		if found == nil || v.used.Before(found.used) {
			oldest, found = key, v
		}
	}
	delete(s.sessions, oldest)
}

// find returns the session with this secret, or nil.
func (s *sessions) find(id string, now time.Time) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.sessions[sha256.Sum256([]byte(id))]
	if found == nil || over(found, now) {
		return nil
	}
	found.used = now
	return found
}

// setNote keeps a note for the next page of a session.
func (s *sessions) setNote(of *session, n note) {
	s.mu.Lock()
	defer s.mu.Unlock()
	of.note = n
}

// takeNote returns the note of setNote, once.
func (s *sessions) takeNote(of *session) (n note) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, of.note = of.note, note{}
	return n
}

// end deletes a session.
func (s *sessions) end(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, sha256.Sum256([]byte(id)))
}

// issue returns the secret of a new ticket. It drops the oldest one when there are too many.
func (s *sessions) issue(token svc.Secret, now time.Time) (id string, expiry time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(now)
	for len(s.tickets) >= maxTickets {
		oldest := slices.MinFunc(slices.Collect(maps.Keys(s.tickets)), func(a, b [sha256.Size]byte) int { return s.tickets[a].expiry.Compare(s.tickets[b].expiry) })
		delete(s.tickets, oldest)
	}
	id, expiry = rand.Text(), now.Add(ticketTime)
	s.tickets[sha256.Sum256([]byte(id))] = ticket{token, expiry}
	return id, expiry
}

// redeem returns the token of a ticket, once.
func (s *sessions) redeem(id string, now time.Time) (svc.Secret, bool) {
	key := sha256.Sum256([]byte(id))
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.tickets[key]
	delete(s.tickets, key)
	return t.token, ok && now.Before(t.expiry)
}

// expire deletes what is over; the caller holds mu.
func (s *sessions) expire(now time.Time) {
	for key, v := range s.sessions {
		if over(v, now) {
			delete(s.sessions, key)
		}
	}
	for key, t := range s.tickets {
		if !now.Before(t.expiry) {
			delete(s.tickets, key)
		}
	}
}

func over(s *session, now time.Time) bool {
	return !now.Before(s.expiry) || now.Sub(s.used) >= idleTime
}
