package brokerhttp

// routes is the whole API. docs/schema/broker.openapi.yaml describes each, and a
// test holds the two to each other.
var routes = []route{
	{"POST", "/approve/{id}", (*call).approve},
	{"POST", "/deny/{id}", (*call).deny},

	{"GET", "/v1/agents", (*call).agents},
	{"POST", "/v1/agents", (*call).hire},
	{"GET", "/v1/agents/{id}", (*call).agent},
	{"POST", "/v1/agents/{id}/fire", (*call).fire},
	{"POST", "/v1/agents/{id}/interrupt", (*call).interrupt},
	{"POST", "/v1/agents/{id}/cancel", (*call).cancel},
	{"GET", "/v1/agents/{id}/status", (*call).seen},
	{"POST", "/v1/agents/{id}/exit", (*call).exit},
	{"GET", "/v1/agents/{id}/await", (*call).await},
	{"GET", "/v1/agents/{id}/cross", (*call).cross},
	{"POST", "/v1/agents/{id}/cross", (*call).setCross},
	{"POST", "/v1/agents/{id}/sessions", (*call).setSession},
	{"GET", "/v1/agents/{id}/policy", (*call).holding},
	{"GET", "/v1/agents/{id}/explain", (*call).explain},
	{"GET", "/v1/status", (*call).status},
	{"GET", "/v1/own", (*call).own},

	{"POST", "/v1/decide", (*call).decide},

	{"GET", "/v1/requests", (*call).requests},
	{"POST", "/v1/requests", (*call).ask},
	{"GET", "/v1/requests/{id}", (*call).request},
	{"GET", "/v1/requests/{id}/proposal", (*call).proposal},
	{"GET", "/v1/grants", (*call).grants},
	{"POST", "/v1/grants/{id}/revoke", (*call).revoke},

	{"POST", "/v1/messages", (*call).send},
	{"GET", "/v1/messages/{id}/answer", (*call).answer},
	{"GET", "/v1/mailbox", (*call).mailbox},
	{"POST", "/v1/mailbox/ack", (*call).ack},

	{"POST", "/v1/skills/{id}", (*call).skill},

	{"GET", "/v1/events", (*call).events},
	{"GET", "/v1/audit", (*call).audit},
	{"POST", "/v1/audit/denials", (*call).denials},
	{"GET", "/v1/audit/verify", (*call).verify},
}
