package api

// ProblemContentType is the media type of every error [D5].
const ProblemContentType = "application/problem+json"
