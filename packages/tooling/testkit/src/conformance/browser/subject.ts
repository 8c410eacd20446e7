/** The backend under judgement, and what a check may ask of it. */
import type { FeatureContext, FeatureDefinition } from "@svc/contract";
import type { BrowserActionName } from "@svc/kit/browser";
import type { Check } from "../../check.ts";
import type { HostileSites } from "../../platforms/hostile-sites/sites.ts";
import type { MissingPart } from "../../require-real.ts";

export interface BrowserSubject {
  /** What results call it. */
  readonly backend: string;
  /** Whether its browsers have no way out but the proxy of ours. */
  readonly proxied: boolean;
  /** Keys of `[browser]` beyond the defaults, `backend` and `allowed_domains`; a function where they depend on the sites. */
  readonly config?:
    | Readonly<Record<string, unknown>>
    | ((sites: HostileSites) => Promise<Readonly<Record<string, unknown>>>);
  /** How to start the processes that its manifest lists. */
  readonly child?: FeatureContext["child"];
  /** What of it is not on this machine. */
  readonly missing?: () => MissingPart | undefined;
  /** Actions that it can't do, as its documentation says. */
  readonly lacks?: readonly BrowserActionName[];
  /** After each check, with what `config` started. */
  readonly close?: () => Promise<void>;
}

export interface BrowserBench {
  readonly definition: FeatureDefinition;
  readonly subject: BrowserSubject;
}

export interface BrowserCheck extends Check {
  /** Actions without which there is nothing to check. */
  readonly needs?: readonly BrowserActionName[];
  /** Only of backends whose browsers go through the proxy. */
  readonly proxied?: boolean;
}
