package check

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pinfold-dev/pinfold/cmd/pinfold/internal/cli"
	"github.com/pinfold-dev/pinfold/pathresolver"
)

// The part of SARIF 2.1.0 that check needs; the names are the standard's.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool    sarifTool     `json:"tool"`
		Results []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID string `json:"id"`
	}
	sarifResult struct {
		RuleID     string            `json:"ruleId"`
		RuleIndex  int               `json:"ruleIndex"`
		Level      string            `json:"level"`
		Message    sarifText         `json:"message"`
		Locations  []sarifLocation   `json:"locations"`
		Properties map[string]string `json:"properties"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifLocation struct {
		Physical sarifPhysical  `json:"physicalLocation"`
		Logical  []sarifLogical `json:"logicalLocations"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn,omitempty"`
	}
	sarifLogical struct {
		FullyQualifiedName string `json:"fullyQualifiedName"`
		Kind               string `json:"kind"`
	}
)

// checkSARIF prints the report for code scanning. The location is the line of
// the file that lists the write paths, or, for a flag, the root directory:
// GitHub's upload takes no result without a physical location.
func checkSARIF(o *cli.Output, r *checkReport) error {
	run := newSARIFRun()
	for i := range r.Violations {
		v := &r.Violations[i]
		run.Results = append(run.Results, run.result(r, v))
	}
	return writeSARIF(o, run)
}

func newSARIFRun() sarifRun {
	return sarifRun{
		Tool: sarifTool{Driver: sarifDriver{
			Name: "pinfold check", Version: cli.BuildVersion(), Rules: []sarifRule{},
			InformationURI: "https://github.com/pinfold-dev/pinfold",
		}},
		Results: []sarifResult{},
	}
}

func writeSARIF(o *cli.Output, run sarifRun) error {
	return cli.WriteJSON(o.Stdout, sarifLog{
		Schema:  "https://json.schemastore.org/sarif-2.1.0.json",
		Version: "2.1.0",
		Runs:    []sarifRun{run},
	})
}

// result is v as a result, whose rule it adds to the run where it is new.
func (run *sarifRun) result(r *checkReport, v *violation) sarifResult {
	rules := &run.Tool.Driver.Rules
	rule := sarifRule{ID: string(v.Code)}
	index := slices.Index(*rules, rule)
	if index < 0 {
		index = len(*rules)
		*rules = append(*rules, rule)
	}
	level := "error"
	if v.Severity == pathresolver.SeverityWarning {
		level = "warning"
	}
	text := v.Message
	if v.Hint != "" {
		text += "\n" + v.Hint
	}
	at := sarifPhysical{Artifact: sarifArtifact{URI: fileURI(v.Root)}}
	if file, line := r.place(v); file != "" {
		at.Artifact.URI = fileURI(file)
		if line > 0 {
			at.Region = &sarifRegion{StartLine: line}
		}
	}
	return sarifResult{
		RuleID: rule.ID, RuleIndex: index, Level: level, Message: sarifText{Text: text},
		Locations: []sarifLocation{{
			Physical: at,
			Logical:  []sarifLogical{{FullyQualifiedName: v.Field, Kind: "parameter"}},
		}},
		Properties: map[string]string{"root": v.Root, "value": v.Value},
	}
}

// fileURI is a path as a URI reference: relative stays relative, so that it
// is read from the root of the repository.
func fileURI(path string) string {
	path = filepath.ToSlash(path)
	u := url.URL{Path: path}
	if strings.HasPrefix(path, "/") {
		u.Scheme = "file"
	}
	return u.String()
}
