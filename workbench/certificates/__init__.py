"""Certificates: the scalar C of a schedule's final nest, raised again and proved to compute what the operator says."""

from workbench.certificates.certificate import Certificate, certify

__all__ = ["Certificate", "certify"]
