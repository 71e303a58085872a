package broker

import (
	"context"
	"errors"
	"time"
)

func answerTopic(id string) string { return "answer:" + id }

// AwaitAnswer waits for the answer to a message that the caller has sent with
// the verb ask, and hands it over. It waits as long as ctx lasts, and can be
// called again, also by another broker and after a restart: an answer that was
// handed over before is returned once more. It is refused with
// codeDeadlock where whoever was asked waits for the caller, over others or
// directly, and with codeAgentGone once nobody is left to answer.
func (b *Broker) AwaitAnswer(ctx context.Context, who Identity, askID string) (Message, error) {
	if !b.attempts.admit(who) {
		return Message{}, tooOften()
	}
	var ask, answer Message
	var key string
	err := b.update(ctx, func(t *tx) (err error) {
		if ask, err = ownAsk(t, who, askID); err != nil || who.operator {
			return t.guess(who, "await", askID, err)
		}
		if found, err := answered(t, askID); err != nil || found.ID != "" {
			return err
		}
		var circle bool
		if key, circle, err = t.waitFor(who.agent, managerOfBox(ask.RecipientID)); err == nil && circle {
			return t.refused(who, "await", ask.RecipientID, refuse(codeDeadlock, "[ERROR] \"%s\" waits for \"%s\" already: both would wait for ever", ask.RecipientID, who))
		}
		return err
	})
	if err != nil {
		return Message{}, err
	}
	defer b.hold(ctx, key)()
	err = b.await(ctx, []string{answerTopic(askID), agentTopic(ask.RecipientID)}, time.Time{}, func(tx ReadTx) (bool, error) {
		if answer, err = answered(tx, askID); err != nil || answer.ID != "" {
			return true, err
		}
		if ask.RecipientID == rootName {
			return false, nil // a person answers, or nobody does
		}
		a, err := tx.Agent(ask.RecipientID)
		if errors.Is(err, ErrNotFound) || err == nil && !reachable(a) {
			err = refuse(codeAgentGone, "[ERROR] \"%s\" is gone and will not answer", ask.RecipientID)
		}
		return false, err
	})
	if err != nil {
		return Message{}, outcome(err)
	}
	return answer, b.takeAnswer(ctx, who, &answer)
}

// AnswerTo is AwaitAnswer without waiting: the zero Message while there is no
// answer.
func (b *Broker) AnswerTo(ctx context.Context, who Identity, askID string) (Message, error) {
	if !b.attempts.admit(who) {
		return Message{}, tooOften()
	}
	var answer Message
	err := b.view(ctx, func(tx ReadTx) (err error) {
		if _, err = ownAsk(tx, who, askID); err == nil {
			answer, err = answered(tx, askID)
		}
		return err
	})
	if err != nil || answer.ID == "" {
		return Message{}, b.guessed(ctx, who, "await", askID, err)
	}
	return answer, b.takeAnswer(ctx, who, &answer)
}

// ownAsk is a question that who has asked; any other is as good as none.
func ownAsk(tx ReadTx, who Identity, id string) (Message, error) {
	if err := known(tx, who); err != nil {
		return Message{}, err
	}
	ask, err := tx.Message(id)
	if errors.Is(err, ErrNotFound) || err == nil && (ask.Verb != VerbAsk || ask.SenderID != who.String()) {
		return Message{}, refuse(CodeNotFound, "[ERROR] There is no question \"%s\" of yours", shown(id, maxShown))
	}
	return ask, err
}

// takeAnswer hands an answer over. The mailbox may have done so meanwhile.
func (b *Broker) takeAnswer(ctx context.Context, who Identity, answer *Message) error {
	if !answer.DeliveredAt.IsZero() {
		return nil
	}
	return b.update(ctx, func(t *tx) error {
		err := t.MarkDelivered(who.String(), []string{answer.ID}, t.now)
		if errors.Is(err, ErrConflict) {
			return nil
		}
		answer.DeliveredAt = t.now
		return err
	})
}

// answered is the answer to an ask; one without an id while there is none.
func answered(tx ReadTx, askID string) (Message, error) {
	list, err := tx.Messages(MessageFilter{ReplyTo: askID, Limit: 1})
	if err != nil || len(list) == 0 {
		return Message{}, err
	}
	return list[0], nil
}
