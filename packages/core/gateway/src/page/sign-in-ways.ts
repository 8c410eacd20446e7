/** By what a stranger can sign a page in: features of kind auth, with a route that is open. */
import type { GatewaySettings } from "../types.ts";

export function signInWays(
  { routes, authFeatures }: Pick<GatewaySettings, "routes" | "authFeatures">,
  isUp: (feature: string) => boolean,
): () => readonly string[] {
  const open = routes.filter(({ feature, route }) => route.access === "open" && authFeatures.has(feature));
  const features = [...new Set(open.map(({ feature }) => feature))];
  return () => features.filter(isUp);
}
