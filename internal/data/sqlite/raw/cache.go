package raw

import lib "modernc.org/sqlite/lib"

const (
	defaultStatements = 64
	maxKeptText       = 8 << 10 // bytes of SQL; longer texts are rarely run twice
)

// cache keeps a limited number of prepared statements by their text, and evicts the
// least recently used one.
type cache struct {
	max    int
	clock  uint64
	byText map[key]*Stmt
}

// key is a text and whether it was compiled under an Authorizer: a statement that was
// not must never run under one.
type key struct {
	text    string
	guarded bool
}

func (h *cache) setUp(most int) {
	if most <= 0 {
		most = defaultStatements
	}
	h.max, h.byText = most, make(map[key]*Stmt)
}

func (h *cache) get(text key) *Stmt {
	s := h.byText[text]
	if s == nil || s.out {
		return nil
	}
	h.clock++
	s.out, s.used = true, h.clock
	return s
}

func (h *cache) put(text key, s *Stmt) {
	if _, taken := h.byText[text]; taken || len(h.byText) >= h.max && !h.evict() {
		return
	}
	h.clock++
	s.kept, s.out, s.used = true, true, h.clock
	h.byText[text] = s
}

// evict finalizes the least recently used statement that is not in use. It reports
// false when all are in use.
func (h *cache) evict() bool {
	var oldest key
	least := ^uint64(0)
	for text, s := range h.byText {
		if !s.out && s.used < least {
			oldest, least = text, s.used
		}
	}
	if least == ^uint64(0) {
		return false
	}
	h.byText[oldest].finalize()
	delete(h.byText, oldest)
	return true
}

func (h *cache) clear() {
	for _, s := range h.byText {
		s.Reset()
		s.finalize()
	}
	clear(h.byText)
}

// Cached is Prepare with a cache: it compiles a text of exactly one statement once.
// Finalize returns the statement to the cache; until then the text is compiled again.
func (c *Conn) Cached(text string) (s *Stmt, rest string, err error) {
	k := key{text, c.authorize != nil}
	if s := c.statements.get(k); s != nil {
		return s, "", nil
	}
	if len(text) > maxKeptText {
		return c.prepare(text, 0)
	}
	s, rest, err = c.prepare(text, lib.SQLITE_PREPARE_PERSISTENT)
	if err == nil && s != nil && rest == "" {
		c.statements.put(k, s)
	}
	return s, rest, err
}
