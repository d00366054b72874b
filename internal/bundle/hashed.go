package bundle

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// minHash is the least length of a content hash in a name: that of Vite, esbuild and Angular.
const minHash = 8

// hashedDirs are the directories in which frameworks put nothing but files that never change.
//
//nolint:gochecknoglobals // a constant list
var hashedDirs = []string{"/_next/static/", "/_app/immutable/", "/_astro/", "/_nuxt/"}

// HasContentHash reports whether the name of a static file seems to carry a hash of its content,
// so that another content has another name. HTML files never do. It is a guess: a hash that looks
// like a word, which is rare, is none.
func HasContentHash(name string) bool {
	name = "/" + name
	ext := strings.ToLower(path.Ext(name))
	if ext == ".html" || ext == ".htm" {
		return false
	}
	if slices.ContainsFunc(hashedDirs, func(dir string) bool { return strings.Contains(name, dir) }) {
		return true
	}
	stem := path.Base(name)
	if ext == ".map" || ext == ".gz" || ext == ".br" {
		stem = strings.TrimSuffix(stem, path.Ext(stem))
	}
	stem = strings.TrimSuffix(stem, path.Ext(stem))
	return slices.ContainsFunc(strings.FieldsFunc(stem, isSeparator), isHash) || endsInHash(stem)
}

func isSeparator(r rune) bool { return strings.ContainsRune(".-_~@", r) }

// endsInHash finds a hash of 8 characters in base64url, which may have separators itself.
func endsInHash(stem string) bool {
	at := len(stem) - minHash
	if at < 0 || at > 0 && !isSeparator(rune(stem[at-1])) {
		return false
	}
	last := stem[at:]
	if plain := strings.Map(dropSeparator, last); len(plain) < len(last) {
		return len(plain) > minHash/2 && isRandom(plain) && plain != strings.ToLower(plain)
	}
	// "C5kaLoma" has three kinds of characters, and is no word with a number as "Section1" is.
	return strings.ContainsFunc(last, unicode.IsUpper) && strings.ContainsFunc(last, unicode.IsLower) &&
		strings.ContainsFunc(last, unicode.IsDigit) && !strings.ContainsFunc(last, isOther) && !numbered.MatchString(last)
}

func dropSeparator(r rune) rune {
	if isSeparator(r) {
		return -1
	}
	return r
}

// isHash reports whether a part of a name between separators is a hash.
func isHash(part string) bool {
	return len(part) >= minHash && !strings.ContainsFunc(part, isOther) && isRandom(part)
}

func isOther(r rune) bool { return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) }

var (
	hexadecimal = regexp.MustCompile(`^[0-9a-f]*([0-9][a-f]|[a-f][0-9])[0-9a-f]*$`)
	numbered    = regexp.MustCompile(`^[A-Za-z][a-z]*(?:[A-Z][a-z]+)*[0-9]+$`)
	hump        = regexp.MustCompile(`[A-Z]+(?:[a-z]+)?|[a-z]+`)
	runs        = regexp.MustCompile(`[0-9]+|[A-Za-z]+`)
	onset       = regexp.MustCompile(`^(?:[bcdfghjklmnpqrstvwxyz]?|[bcfgkps]l|[bcdfgkptw]r|[cgprstw]h|chr|phr|sch|scr|shr|spl|spr|str|thr|s[ckmnpqtw]|[dt]w|kn|gn|ps|ts)[aeiouy]`)
	vowelless   = regexp.MustCompile(`[^aeiouy]{5,}`)
)

// The number of changes between letters and digits from which a part is no word with numbers.
const (
	mixedChanges = 3 // in a part with upper-case and lower-case letters
	lowerChanges = 4
)

// isRandom reports whether letters and digits look like a hash: hexadecimal, with many changes
// between letters and digits, or with letters that are no word.
func isRandom(s string) bool {
	if len(s) >= minHash && hexadecimal.MatchString(s) {
		return true
	}
	segments := runs.FindAllString(s, -1)
	lower := s == strings.ToLower(s)
	switch changes := len(segments) - 1; {
	case changes >= lowerChanges, changes >= mixedChanges && !lower:
		return true
	case lower:
		return false // words of other languages look like anything
	}
	return slices.ContainsFunc(segments, func(segment string) bool { return !isWords(segment) })
}

// isWords reports whether letters are words in camel case, or in upper case.
func isWords(letters string) bool {
	if unicode.IsDigit(rune(letters[0])) {
		return true
	}
	if letters == strings.ToUpper(letters) {
		return len(letters) < minHash/2 || isWord(letters)
	}
	for i, part := range hump.FindAllString(letters, -1) {
		isAcronym := i > 0 && len(part) > 1 && len(part) <= minHash/2 && part == strings.ToUpper(part)
		if !isAcronym && (len(part) < 3 && i > 0 || !isWord(part)) { // a hump of one or two letters is rare in words
			return false
		}
	}
	return true
}

// isWord reports whether a person can say it. An acronym in front of a word is passed over.
func isWord(part string) bool {
	if n := len(part) - len(strings.TrimLeftFunc(part, unicode.IsUpper)); n > 1 && n < len(part) {
		part = part[n-1:]
	}
	part = strings.ToLower(part)
	return len(part) == 1 || onset.MatchString(part) && !vowelless.MatchString(part)
}
