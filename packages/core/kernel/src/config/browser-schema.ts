/** `[browser]`: the browser that agents drive. */
import { httpUrl, secret } from "@svc/contract";
import * as v from "valibot";
import { count, flag, list, text } from "./schema-pieces.ts";

export const browser = v.strictObject({
  enabled: flag(false, "Give agents a browser."),
  backend: v.optional(
    v.pipe(
      v.picklist(["agent_browser", "native", "computer_use"]),
      v.description(
        "Browser backend: the program agent-browser, svc itself (native), or the service at computer_use_endpoint.",
      ),
    ),
    "agent_browser",
  ),
  allowed_domains: list(
    "Hosts that pages and their resources may load from: example.com, *.example.com with all subdomains, an address, or * for every public host. Empty: none.",
  ),
  native_headless: flag(true, "Run the native browser without a window."),
  chromium_path: v.optional(text("Path of the Chromium to start. Default: the installed one.")),
  agent_browser_path: v.optional(text("Path of agent-browser. Default: found on the PATH.")),
  idle_secs: count(300, 10, 86_400, "Seconds of inactivity after which a conversation's browser is closed."),
  computer_use_endpoint: v.optional(
    v.pipe(httpUrl(), v.description("URL that takes the actions of the backend computer_use.")),
    "http://127.0.0.1:8787/v1/actions",
  ),
  computer_use_api_key: v.optional(v.pipe(secret(), v.description("Bearer key of that service."))),
  computer_use_windows: list("Titles of windows that the agent may act in. Empty: the browser's own."),
});
