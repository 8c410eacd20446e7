/** A procedure that is being written, as the service answers. */

export interface SopProblem {
  readonly file: string | null;
  readonly line: number | null;
  readonly column: number | null;
  readonly key: string;
  readonly message: string;
  readonly allowed: string | null;
  readonly did_you_mean: string | null;
}

export interface StepForm {
  readonly title: string;
  readonly body: string;
  readonly kind: "execute" | "checkpoint";
  readonly tools: readonly string[];
  readonly requires_confirmation: boolean;
  /** For a step without a model. */
  readonly tool: string | null;
  readonly args: Readonly<Record<string, unknown>> | null;
  readonly trusted_input: boolean;
}

export interface SopForm {
  readonly sop: {
    readonly description: string;
    readonly version: string;
    readonly priority: string;
    readonly execution_mode: string | null;
    readonly cooldown_secs: number;
    readonly max_concurrent: number;
    readonly agent: string | null;
    readonly enabled: boolean;
  };
  readonly triggers: readonly Readonly<Record<string, string>>[];
  readonly steps_in: "SOP.toml" | "SOP.md";
  readonly steps: readonly StepForm[];
}

export interface SopText {
  readonly toml: string;
  /** Null: there is no SOP.md. */
  readonly markdown: string | null;
}

export interface SopDraft extends SopText {
  readonly problems: readonly SopProblem[];
  readonly warnings: readonly SopProblem[];
  /** Null: SOP.toml is not TOML. */
  readonly form: SopForm | null;
}

export interface SopSource extends SopDraft {
  readonly name: string;
  readonly revision: string;
  readonly unwritable: string | null;
}

export type SopEdit =
  | { readonly path: readonly (string | number)[]; readonly value: unknown }
  | { readonly path: readonly (string | number)[]; readonly remove: true }
  | { readonly step: number; readonly remove: true }
  | { readonly step: number; readonly move: number }
  | { readonly step: number; readonly to: Omit<StepForm, "tool" | "args" | "trusted_input"> };

/** An edit, or one that is made of the form as it is when the edits before it are done. */
export type FormEdit = SopEdit | ((form: SopForm) => SopEdit | undefined);
export type OnEdit = (edit: FormEdit) => void;

export interface Calendar {
  readonly from: string;
  readonly until: string;
  readonly times: readonly {
    readonly sop: string;
    readonly expression: string;
    readonly timezone: string | null;
    readonly at: readonly string[];
    readonly more: boolean;
  }[];
  readonly left: number;
}
