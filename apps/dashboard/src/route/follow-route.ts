import { Cell } from "../state/cell.ts";
import { parseRoute, type Route } from "./route.ts";

export function followRoute(window: Window): Cell<Route> {
  const cell = new Cell(parseRoute(window.location.hash, true));
  window.addEventListener("hashchange", () => cell.set(parseRoute(window.location.hash)));
  return cell;
}
