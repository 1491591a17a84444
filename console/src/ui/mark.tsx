// Thorpe's mark: sorted rows of one table, some longer than others.
// SPDX-License-Identifier: Apache-2.0
export function Mark({ size = 22 }: { size?: number }) {
  return (
    <svg class="mark" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true">
      <rect x="1" y="1" width="22" height="22" rx="6" class="mark-ground" />
      <rect x="5.5" y="6" width="13" height="2.6" rx="1.3" />
      <rect x="8.5" y="10.7" width="10" height="2.6" rx="1.3" />
      <rect x="8.5" y="15.4" width="6.5" height="2.6" rx="1.3" />
    </svg>
  );
}
