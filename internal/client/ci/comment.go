package ci

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	commentLimit = 30 * time.Second // of one request to the API of the forge
	commentPage  = 100
	// commentPages bounds the search for the comment among those of a busy request.
	commentPages = 20
	// maxAnswer is the maximum size of a page of comments in bytes.
	maxAnswer = 64 << 20
)

// ErrNoRequest is the error of a job that does not belong to a pull or merge request.
var ErrNoRequest = errors.New("the job does not belong to a pull request or merge request")

// thread is the comments of one pull or merge request.
type thread struct {
	list, one string // URLs: of all comments, and of a comment before its id
	change    string // method that changes a comment
	header    string
	token     string
}

// Comment writes body as the one comment of the job's pull or merge request that begins
// with the key, or deletes that comment if body is "". The token is in GITHUB_TOKEN or
// GITLAB_TOKEN. The error is ErrNoRequest for a job without a request.
func (e Environ) Comment(ctx context.Context, key, body string) error {
	t, err := e.thread()
	if err != nil {
		return err
	}
	marker := "<!-- svcctl: " + key + " -->"
	id, err := t.find(ctx, marker)
	switch {
	case err != nil:
		return fmt.Errorf("reading the comments: %w", err)
	case body == "" && id == 0:
		return nil
	case body == "":
		_, err = t.do(ctx, http.MethodDelete, t.one+strconv.FormatInt(id, 10), "")
	case id == 0:
		_, err = t.do(ctx, http.MethodPost, t.list, marker+"\n"+body)
	default:
		_, err = t.do(ctx, t.change, t.one+strconv.FormatInt(id, 10), marker+"\n"+body)
	}
	if err != nil {
		return fmt.Errorf("writing the comment: %w", err)
	}
	return nil
}

func (e Environ) thread() (thread, error) {
	switch e.Provider() {
	case "github":
		number, err := e.pullRequest()
		if err != nil {
			return thread{}, err
		}
		issues := cmp.Or(e["GITHUB_API_URL"], "https://api.github.com") + "/repos/" + e["GITHUB_REPOSITORY"] + "/issues/"
		t := thread{fmt.Sprintf("%s%d/comments", issues, number), issues + "comments/", http.MethodPatch, "Authorization", ""}
		if t.token = e["GITHUB_TOKEN"]; t.token == "" {
			return thread{}, errors.New("missing GITHUB_TOKEN: set it to ${{ github.token }} in the step")
		}
		t.token = "Bearer " + t.token
		return t, nil
	case "gitlab":
		if e["CI_MERGE_REQUEST_IID"] == "" {
			return thread{}, ErrNoRequest
		}
		notes := e["CI_API_V4_URL"] + "/projects/" + e["CI_PROJECT_ID"] + "/merge_requests/" + e["CI_MERGE_REQUEST_IID"] + "/notes"
		t := thread{notes, notes + "/", http.MethodPut, "PRIVATE-TOKEN", e["GITLAB_TOKEN"]}
		if t.token == "" {
			return thread{}, errors.New("missing GITLAB_TOKEN: make a project access token with the scope api")
		}
		return t, nil
	}
	return thread{}, ErrNoRequest
}

var pullRef = regexp.MustCompile(`^refs/pull/(\d+)/`)

// pullRequest is the number in the event of the job, or else in its ref.
func (e Environ) pullRequest() (int64, error) {
	var event struct {
		PullRequest struct {
			Number int64 `json:"number"`
		} `json:"pull_request"`
		Issue struct {
			Number int64 `json:"number"`
		} `json:"issue"`
	}
	if path := e["GITHUB_EVENT_PATH"]; path != "" {
		text, err := os.ReadFile(path)
		if err == nil {
			err = json.Unmarshal(text, &event)
		}
		if err != nil {
			return 0, fmt.Errorf("reading GITHUB_EVENT_PATH: %w", err)
		}
	}
	if n := max(event.PullRequest.Number, event.Issue.Number); n > 0 {
		return n, nil
	}
	if m := pullRef.FindStringSubmatch(e["GITHUB_REF"]); m != nil {
		return strconv.ParseInt(m[1], 10, 64)
	}
	return 0, ErrNoRequest
}

// find returns the id of the comment that begins with marker, 0 for none.
func (t thread) find(ctx context.Context, marker string) (int64, error) {
	for page := 1; page <= commentPages; page++ {
		text, err := t.do(ctx, http.MethodGet, fmt.Sprintf("%s?per_page=%d&page=%d", t.list, commentPage, page), "")
		if err != nil {
			return 0, err
		}
		var comments []struct {
			ID   int64  `json:"id"`
			Body string `json:"body"`
		}
		if err := json.Unmarshal(text, &comments); err != nil {
			return 0, fmt.Errorf("decoding the answer: %w", err)
		}
		for _, c := range comments {
			if strings.HasPrefix(c.Body, marker) {
				return c.ID, nil
			}
		}
		if len(comments) < commentPage {
			return 0, nil
		}
	}
	return 0, nil
}

func (t thread) do(ctx context.Context, method, url, comment string) ([]byte, error) {
	var body io.Reader
	if comment != "" {
		text, err := json.Marshal(map[string]string{"body": comment})
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return nil, err
	}
	req.Header.Set(t.header, t.token)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("Content-Type", "application/json")
	resp, err := (&http.Client{Timeout: commentLimit}).Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err == nil && resp.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("%s %s: %s", method, url, resp.Status)
	}
	return text, err
}
