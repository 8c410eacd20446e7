/** `[browser]`: the browser that agents drive. */
import { httpUrl, secret } from "@svc/contract";
import * as v from "valibot";
import { count, flag, list, text } from "./schema-pieces.ts";

export const browser = v.strictObject({
  enabled: flag(false, "Agents have a browser."),
  backend: v.optional(
    v.pipe(
      v.picklist(["agent_browser", "native", "computer_use"]),
      v.description(
        "Who drives it: the program agent-browser, svc itself (native), or the service at computer_use_endpoint.",
      ),
    ),
    "agent_browser",
  ),
  allowed_domains: list(
    "Hosts that pages, and all that is in them, may come from: example.com or *.example.com with all below it, an address, or * for every public one. Empty: none.",
  ),
  native_headless: flag(true, "The native browser shows no window."),
  chromium_path: v.optional(text("The Chromium to start. Default: the one that is installed.")),
  agent_browser_path: v.optional(text("The program agent-browser. Default: the one on the PATH.")),
  idle_secs: count(300, 10, 86_400, "Seconds without a call after which a conversation's browser is closed."),
  computer_use_endpoint: v.optional(
    v.pipe(httpUrl(), v.description("URL that takes the actions of the backend computer_use.")),
    "http://127.0.0.1:8787/v1/actions",
  ),
  computer_use_api_key: v.optional(v.pipe(secret(), v.description("Bearer key of that service."))),
  computer_use_windows: list("Titles of the windows that it may act in. Empty: the browser's own."),
});
