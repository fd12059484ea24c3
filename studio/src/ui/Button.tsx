import { Link, type LinkProps } from "@tanstack/react-router";
import type { ButtonHTMLAttributes, ReactNode } from "react";
import { Icon, type IconName } from "./Icon";

type Look = { icon?: IconName; kind?: "primary" | "plain" | "default"; danger?: boolean; small?: boolean };

const classes = ({ kind, danger, small }: Look, square: boolean): string =>
  ["button", kind ?? "", danger ? "danger" : "", small ? "small" : "", square ? "square" : ""]
    .filter(Boolean)
    .join(" ");

export type ButtonProps = Look & ButtonHTMLAttributes<HTMLButtonElement> & { busy?: boolean };

export function Button({ icon, kind, danger, small, busy, children, className, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      disabled={rest.disabled || busy}
      className={`${classes({ kind, danger, small }, children === undefined)} ${className ?? ""}`}
    >
      {busy ? <span className="spinner" /> : icon ? <Icon name={icon} /> : null}
      {children}
    </button>
  );
}

/** An icon-only button. `label` is its accessible name. */
export function IconButton({ label, icon, ...rest }: ButtonProps & { label: string; icon: IconName }) {
  return <Button kind="plain" icon={icon} aria-label={label} title={label} {...rest} />;
}

export function LinkButton({
  icon,
  kind,
  danger,
  small,
  children,
  ...rest
}: Look & LinkProps & { children?: ReactNode; className?: string }) {
  return (
    <Link {...rest} className={classes({ kind, danger, small }, children === undefined)}>
      {icon ? <Icon name={icon} /> : null}
      {children}
    </Link>
  );
}
