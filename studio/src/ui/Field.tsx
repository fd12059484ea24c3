import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId,
} from "react";
import { Icon } from "./Icon";
import { TextWithCode } from "./TextWithCode";

type FieldProps = { label: string; hint?: ReactNode; problem?: string | undefined; required?: boolean | undefined };

/** A label, a control, and a hint or problem. `children` receives the id that label and hint refer to. */
export function Field({
  label,
  hint,
  problem,
  required,
  children,
}: FieldProps & {
  children: (attributes: { id: string; "aria-describedby"?: string; "aria-invalid"?: boolean }) => ReactNode;
}) {
  const id = useId();
  const description = problem ?? hint;
  return (
    <div className="field">
      <label htmlFor={id}>
        {label}
        {required ? <span aria-hidden="true"> *</span> : null}
      </label>
      {children({
        id,
        ...(description ? { "aria-describedby": `${id}-said` } : {}),
        ...(problem ? { "aria-invalid": true } : {}),
      })}
      {description ? (
        <div id={`${id}-said`} className={problem ? "problem" : "hint"}>
          {typeof description === "string" ? <TextWithCode text={description} /> : description}
        </div>
      ) : null}
    </div>
  );
}

export function TextField({ label, hint, problem, ...rest }: FieldProps & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <Field label={label} hint={hint} problem={problem} required={rest.required}>
      {(attributes) => <input className="input" {...rest} {...attributes} />}
    </Field>
  );
}

export function TextArea({ label, hint, problem, ...rest }: FieldProps & TextareaHTMLAttributes<HTMLTextAreaElement>) {
  return (
    <Field label={label} hint={hint} problem={problem} required={rest.required}>
      {(attributes) => <textarea className="area" {...rest} {...attributes} />}
    </Field>
  );
}

export type Option = { value: string; label: string };

export function SelectField({
  label,
  hint,
  problem,
  options,
  ...rest
}: FieldProps & SelectHTMLAttributes<HTMLSelectElement> & { options: readonly Option[] }) {
  return (
    <Field label={label} hint={hint} problem={problem} required={rest.required}>
      {(attributes) => (
        <select className="select" {...rest} {...attributes}>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

export function Checkbox({ label, ...rest }: { label: string } & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <label className="check">
      <input type="checkbox" {...rest} />
      {label}
    </label>
  );
}

export function Switch({ label, ...rest }: { label: string } & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <label className="check">
      <input type="checkbox" role="switch" aria-checked={rest.checked} className="switch" {...rest} />
      {label}
    </label>
  );
}

export function SearchField({ label, ...rest }: { label: string } & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <search className="search-field">
      <Icon name="search" />
      <input className="input" type="search" aria-label={label} placeholder={label} {...rest} />
    </search>
  );
}
