// The feature keeps what every feature keeps, and its section refuses what could never work.
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { poolConfig } from "../src/config.ts";
import definition from "../src/index.ts";

featureConformance(definition, {
  root: `${import.meta.dirname}/..`,
  config: { programs: { coder: { command: ["coder", "--acp"] } } },
  inputs: {
    create_agent: { prompt: "look around" },
    wait_for_agent: { id: "ag-1" },
    send_agent_prompt: { id: "ag-1", prompt: "more" },
    get_agent_activity: { id: "ag-1" },
    list_agents: {},
  },
});

describe("[agents_pool]", () => {
  test.each([[{}], [{ max_agents: 3 }], [{ programs: { coder: { command: ["x"] } } }]])("takes %j", (section) => {
    expect(v.is(poolConfig, section)).toBe(true);
  });

  test.each([
    [{ max_agents: 0 }],
    [{ zombie_after_secs: 1 }],
    [{ programs: { svc: { command: ["x"] } } }],
    [{ programs: { coder: { command: [] } } }],
    [{ programs: { coder: { command: [""] } } }],
    [{ programs: { coder: {} } }],
    [{ other: 1 }],
  ])("refuses %j", (section) => {
    expect(v.is(poolConfig, section)).toBe(false);
  });
});
