"""Reports: findings and verdicts as text and files. Pure: data in, text out."""
