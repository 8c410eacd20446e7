/** Actions that are one command or two, and need nothing of their answers. */
import type { BrowserAction } from "@svc/kit/browser";
import type { Command } from "../program/batch.ts";
import { keyOf } from "./keys.ts";
import { elementOf } from "./target.ts";

type Simple = "click" | "fill" | "type" | "press" | "hover" | "scroll" | "select" | "get_title" | "get_url" | "close";

/** None where it is enough to see where the browser is. */
export function commandsOf(action: Extract<BrowserAction, { action: Simple }>): readonly Command[] {
  switch (action.action) {
    case "click":
      return [[action.double === true ? "dblclick" : "click", elementOf(action.target)]];
    case "fill":
      return [["fill", elementOf(action.target), action.text]];
    case "type":
      return action.target === undefined
        ? [["keyboard", "type", action.text]]
        : [["type", elementOf(action.target), action.text]];
    case "press":
      return [
        ...(action.target === undefined ? [] : [["focus", elementOf(action.target)] as const]),
        ["press", keyOf(action.key)],
      ];
    case "hover":
      return [["hover", elementOf(action.target)]];
    case "select":
      return [["select", elementOf(action.target), ...action.values]];
    case "scroll":
      return [
        [
          "scroll",
          action.direction ?? "down",
          String(action.pixels ?? 600),
          ...(action.target === undefined ? [] : ["--selector", elementOf(action.target)]),
        ],
      ];
    default:
      return [];
  }
}
