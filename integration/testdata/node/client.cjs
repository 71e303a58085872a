// The TypeScript SDK's client, driven by a test: a job in JSON comes on
// standard input, what happened goes to standard output in JSON.
//
//	{"command": ["pinfold", ...]} or {"url": "...", "token": "..."},
//	"calls": [{"name": "...", "arguments": {...}}]
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");
const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");
const fs = require("node:fs");

async function main() {
  const job = JSON.parse(fs.readFileSync(0, "utf8"));
  const transport = job.url
    ? new StreamableHTTPClientTransport(new URL(job.url), {
        requestInit: { headers: { Authorization: `Bearer ${job.token}` } },
      })
    : new StdioClientTransport({ command: job.command[0], args: job.command.slice(1) });
  const client = new Client({ name: job.name || "typescript", version: "1" });
  await client.connect(transport);
  const { tools } = await client.listTools();
  const results = [];
  for (const call of job.calls) {
    // The client checks structured content against the output schema.
    results.push(await client.callTool(call));
  }
  const { resources } = await client.listResources();
  const { resourceTemplates } = await client.listResourceTemplates();
  const contents = resources.length ? await client.readResource({ uri: resources[0].uri }) : null;
  const instructions = client.getInstructions();
  await client.close();
  fs.writeSync(1, JSON.stringify({ tools, results, resources, resourceTemplates, contents, instructions }));
}

main().catch((err) => {
  console.error(err);
  process.exit(1);
});
