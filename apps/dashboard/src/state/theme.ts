/** Light, dark, or the system's setting. Held in memory: a reload starts with the system's setting. */
export type Theme = "system" | "light" | "dark";

export const THEMES: readonly Theme[] = ["system", "light", "dark"];

export function applyTheme(root: HTMLElement, theme: Theme): void {
  if (theme === "system") delete root.dataset["theme"];
  else root.dataset["theme"] = theme;
}
