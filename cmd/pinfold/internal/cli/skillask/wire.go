package skillask

import (
	"encoding/json"
	"errors"

	"github.com/pinfold-dev/pinfold/access"
	"github.com/pinfold-dev/pinfold/broker"
	"github.com/pinfold-dev/pinfold/broker/brokerhttp"
	"github.com/pinfold-dev/pinfold/fileskills"
)

// ResultOnWire is what a skill says, for the wire.
func ResultOnWire(res *fileskills.Result) (brokerhttp.SkillResult, error) {
	meta, err := json.Marshal(res.Meta)
	if err != nil {
		return brokerhttp.SkillResult{}, err
	}
	out := brokerhttp.SkillResult{Text: res.Text, Meta: meta}
	for _, p := range res.Parts {
		out.Parts = append(out.Parts, brokerhttp.SkillPart{MIMEType: p.MIMEType, Data: p.Data})
	}
	return out, nil
}

// ResultFromWire is the inverse of ResultOnWire.
func ResultFromWire(r brokerhttp.SkillResult) (*fileskills.Result, error) {
	res := &fileskills.Result{Text: r.Text}
	if len(r.Meta) > 0 {
		if err := json.Unmarshal(r.Meta, &res.Meta); err != nil {
			return nil, err
		}
	}
	for _, p := range r.Parts {
		res.Parts = append(res.Parts, fileskills.Part{MIMEType: p.MIMEType, Data: p.Data})
	}
	return res, nil
}

// AsBrokerError is a skill's refusal for the wire.
func AsBrokerError(err error) error {
	var refused *fileskills.Error
	if errors.As(err, &refused) {
		return &broker.Error{Code: access.Code(refused.Code), Message: refused.Error()}
	}
	return err
}

// AsSkillError is a broker's refusal as a skill's.
func AsSkillError(err error) error {
	var refused *broker.Error
	if errors.As(err, &refused) {
		return &fileskills.Error{Code: fileskills.Code(refused.Code), Message: refused.Message}
	}
	return err
}
