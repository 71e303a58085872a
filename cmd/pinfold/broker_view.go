package main

import (
	"context"
	"encoding/gob"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/pinfold-dev/pinfold/launcher"
	"github.com/pinfold-dev/pinfold/sandboxfs"
)

// newHiredView is how the broker starts itself again for an agent's view. It
// is hidden: 'pinfold run' is for people.
func newHiredView(a *app) *cobra.Command {
	return &cobra.Command{
		Use:         "hired-view",
		Short:       "Run a hired agent's command in its view, for the broker",
		Hidden:      true,
		Args:        noArgs,
		Annotations: map[string]string{ownErrors: "yes"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			report := os.NewFile(hiredReport, "report")
			in := gob.NewDecoder(a.stdin)
			var v hiredView
			if err := in.Decode(&v); err != nil {
				return usageError(errors.New("this command is the broker's own"), "'pinfold hire' starts an agent, 'pinfold run' a command")
			}
			ctx, stop := context.WithCancel(cmd.Context())
			defer stop()
			go func() { // the broker's end is ours
				_, _ = io.Copy(io.Discard, a.stdin)
				stop()
			}()
			result, err := runHired(ctx, a, v)
			end := hiredEnd{Code: result.ExitCode, Signal: result.Signal, Reason: result.Reason}
			if err != nil {
				end.Code, end.Reason = exitRunOwn, err.Error()
			}
			return errors.Join(gob.NewEncoder(report).Encode(end), report.Close())
		},
	}
}

// runHired is `pinfold run` without flags: the policy has been decided.
func runHired(ctx context.Context, a *app, v hiredView) (launcher.Result, error) {
	var err error
	if v.Policy, err = hidePrivate(v.Policy); err != nil { // as the agent is told it, too
		return launcher.Result{}, err
	}
	r, err := openPlace(v.Policy)
	if err != nil {
		return launcher.Result{}, err
	}
	defer func() { _ = r.Close() }() // holds descriptors, nothing to lose
	remember(a.out, "", r)
	becomeServer()
	f := runFlags{}
	options := f.viewOptions(&refused{})
	if asksAnything(v.Policy) {
		asks := os.NewFile(hiredAsks, "asks")
		defer func() { _ = asks.Close() }() // the view is closed, and asks no more
		options.Ask, options.AskWait = newPipeAsker(asks), v.Wait
	}
	f.traces.follow(r, &options)
	view, err := sandboxfs.New(r, options)
	if err != nil {
		return launcher.Result{}, err
	}
	shown, err := showPolicy(v.Policy, r, view.Arrangement())
	if err != nil {
		return launcher.Result{}, errors.Join(err, view.Close())
	}
	result, err := launcher.Run(ctx, launcher.Config{
		Resolver: r, View: view,
		Command: v.Command,
		Env:     append([]string{"PINFOLD_SOCKET=" + brokerSocketInside}, v.Env...),
		Self:    "pinfold",
		Private: privatePlaces(),
		Files:   map[string][]byte{policyFile: shown},
		Sockets: map[string]string{brokerSocketInside: v.Socket},
		Stdout:  file(a.out.stdout.Writer), Stderr: file(a.out.stderr.Writer),
		NoNetwork: v.NoNetwork,
		Confine:   true, Keep: statePlace(), // where what it left is remembered
		Grace: -1, // who fires it kills it, too
	})
	err = errors.Join(err, view.Close())
	keepLeft(a.out, r, v.Command, f.traces.left())
	return result, err
}
