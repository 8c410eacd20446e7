/** Light, dark, or as the system has it. Kept in memory: a reload asks the system again. */
export type Theme = "system" | "light" | "dark";

export const THEMES: readonly Theme[] = ["system", "light", "dark"];

export function applyTheme(root: HTMLElement, theme: Theme): void {
  if (theme === "system") delete root.dataset["theme"];
  else root.dataset["theme"] = theme;
}
